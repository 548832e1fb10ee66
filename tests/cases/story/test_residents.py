"""Residents of the made-up town: what they want, what they answer, and the files that ship."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from accordant.cases.files import find_reward_file, read_case
from accordant.cases.story import residents
from accordant.cases.story.homes import ACTIONS, BURDEN, DEMAND, OUTCOMES, drawn_homes
from accordant.cases.story.residents import ALIKE, KINDS, PEOPLE, QUESTIONS, STEEPNESS, answers, true_values

EXAMPLE = Path(__file__).parents[3] / "examples" / "story"
FOLDER = Path(residents.__file__).parent


def test_the_files_that_ship_are_what_the_script_makes():
    spec = importlib.util.spec_from_file_location("make_answers", EXAMPLE / "make_answers.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = script.make()
    assert set(made) == {path.name for path in FOLDER.glob("*.csv")}
    for name, text in made.items():
        assert text.encode() == (FOLDER / name).read_bytes(), name


@pytest.mark.parametrize("name", ["story", "story-null"])
def test_the_case_finds_its_answers_wherever_it_is_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case, beside = read_case(name)
    found = find_reward_file(case.rewards["Resident"]["file"], None, beside)
    assert found.parent == FOLDER


def test_nothing_in_a_file_tells_kinds_apart():
    frame = pd.read_csv(FOLDER / "answers.csv")
    cells = [f"{side}_{what}" for side in ("chosen", "rejected") for what in ("action", "outcome")]
    assert list(frame.columns) == ["user_id", *cells, DEMAND, BURDEN]
    assert frame.user_id.value_counts().eq(QUESTIONS).all()
    # whoever prefers heat pumps is spread over the list of names
    pumps = frame[(frame.chosen_action == "Heat_pump") != (frame.rejected_action == "Heat_pump")]
    liking = pumps.chosen_action.eq("Heat_pump").groupby(pumps.user_id).mean().sort_index().to_numpy()
    assert 30 <= (liking > 0.5).sum() <= 48
    assert abs(np.corrcoef(np.arange(len(liking)), liking)[0, 1]) < 0.25


def test_values_written_out_for_one_home():
    home = drawn_homes(1, np.random.default_rng(0)).assign(**{DEMAND: 215.0, BURDEN: 18.0})
    owners, tenants = (true_values(kind, home)[:, :, 0] for kind in KINDS)
    assert owners[:, 1] - 0.05 == pytest.approx([1.6, 0.0, -1.6])  # demand is one unit above the middle
    assert tenants[:, 1] - 0.05 == pytest.approx([-0.4, 0.0, 0.4])  # the burden one below
    assert owners[0] - owners[0, 1] == pytest.approx([0.3, 0.0, -0.45])
    assert true_values(ALIKE, home)[:, 1, 0] - 0.05 == pytest.approx([0.0, 1.2, 0.0])


@pytest.mark.parametrize("alike", [False, True])
def test_answers_follow_the_values_as_bradley_and_terry_have_it(alike):
    """Log-odds by σ: of all answers as many agree with the true value as the model says."""
    kinds = {"alike": ALIKE} if alike else dict.fromkeys(KINDS)
    frame = answers(7, alike=alike)
    assert len(frame) == sum(PEOPLE[ALIKE if alike else kind] for kind in kinds) * QUESTIONS
    place = {(a, o): (i, j) for i, a in enumerate(ACTIONS) for j, o in enumerate(OUTCOMES)}
    agreeing, expected = [], []
    for _, own in frame.groupby("user_id"):
        gaps = []
        for kind in [ALIKE] if alike else KINDS:
            values = true_values(kind, own)
            chosen, rejected = (
                np.array(
                    [
                        values[(*place[a, o], row)]
                        for row, (a, o) in enumerate(zip(own[f"{side}_action"], own[f"{side}_outcome"], strict=True))
                    ]
                )
                for side in ("chosen", "rejected")
            )
            gaps.append(chosen - rejected)
        gap = max(gaps, key=lambda each: -np.log1p(np.exp(-STEEPNESS * each)).sum())  # of the kind that explains them
        agreeing.append((gap > 0).mean() + (gap == 0).mean() / 2)
        expected.append((1 / (1 + np.exp(-STEEPNESS * np.abs(gap)))).mean())
    assert np.mean(agreeing) == pytest.approx(np.mean(expected), abs=0.025)
