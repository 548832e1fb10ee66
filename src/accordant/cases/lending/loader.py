"""Lending Club files as prepared for the published lending case."""

from __future__ import annotations

import pandas as pd

from accordant.cases.loaders import Tidy, tidiers


@tidiers.register("lending_club")
def lending_club_loader() -> Tidy:
    """Return the loader: blanks in headers and values become underscores, placeholder columns go."""

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        """Tidy one table."""
        frame = frame.rename(columns=lambda name: str(name).strip().replace(" ", "_"))
        frame = frame.drop(
            columns=[name for name in frame.columns if name.endswith("_reward") or name == "Applicant_ID"]
        )
        for name in ("Outcome", "Action"):
            if name in frame.columns:
                frame[name] = frame[name].astype(str).str.strip().str.replace(" ", "_")
        return frame

    return tidy
