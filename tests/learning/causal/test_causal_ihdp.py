"""The default on the three IHDP files (Hill 2011, surface B), scored on untouched parts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from accordant.learning.causal import SelectedCausalLearner

FOLDER = Path(os.environ.get("ACCORDANT_DATA", "")) / "ihdp"


@pytest.mark.long
@pytest.mark.skipif("ACCORDANT_DATA" not in os.environ, reason="ACCORDANT_DATA does not name a data folder")
def test_root_pehe_on_the_published_files():
    """Reference on the same split: causal forests .48 to .60, boosted S-learner .41, everyone alike .81."""
    root_pehe = []
    for number in (1, 2, 3):
        frame = pd.read_csv(FOLDER / f"ihdp_npci_{number}.csv")
        train, test = train_test_split(frame, test_size=0.2, random_state=42)
        assert len(test) == 150
        features = [f"x{column}" for column in range(1, 26)]
        learner = SelectedCausalLearner().fit(
            train[features].to_numpy(dtype=float),
            (train["Action"] == "A").to_numpy(dtype=int),
            train["Outcome"].to_numpy(dtype=float),
        )
        control, treated = learner.predict_levels(test[features].to_numpy(dtype=float))
        gap = (treated - control) - (test["mu1"] - test["mu0"]).to_numpy()
        root_pehe.append(np.sqrt(np.mean(gap**2)))
    assert np.mean(root_pehe) <= 0.45
