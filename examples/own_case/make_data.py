"""Make `apprenticeships.csv`: invented applications, so that the example can show every kind of column."""

from pathlib import Path

import numpy as np
import pandas as pd

ROWS, SEED = 900, 7


def make(rows: int = ROWS, seed: int = SEED) -> pd.DataFrame:
    """Return invented applications with the action taken, what followed, and how satisfied the applicant was."""
    generator = np.random.default_rng(seed)
    grade = generator.normal(3.0, 0.8, rows).clip(1, 5).round(1)
    distance = generator.gamma(2.0, 8.0, rows).round(1)
    school = generator.choice(["general", "technical", "evening"], size=rows, p=[0.5, 0.35, 0.15])
    gender = generator.choice(["women", "men"], size=rows)
    lean = 0.8 * (grade - 3) + 0.4 * (school == "technical") + generator.gumbel(size=rows)
    action = np.select([lean > 1.2, lean > 0.2], ["Offer", "Trial"], "Decline")
    odds = 0.2 + 1.1 * (grade - 3) - 0.03 * (distance - 16) + 0.6 * (school == "technical")
    odds = odds + 0.7 * (action == "Trial") - 1.5 * (action == "Decline")
    completed = generator.random(rows) < 1 / (1 + np.exp(-odds))
    satisfaction = 0.25 + 0.35 * completed + 0.25 * (action == "Offer") + 0.1 * (action == "Trial")
    satisfaction = (satisfaction + generator.normal(0, 0.05, rows)).clip(0, 1).round(3)
    missing = generator.random(rows) < 0.03
    return pd.DataFrame(
        {
            "grade": grade,
            "distance_km": np.where(missing, np.nan, distance),
            "school": school,
            "gender": gender,
            "decision": action,
            "result": np.where(completed, "Completed", "Left"),
            "satisfaction": satisfaction,
        }
    )


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("apprenticeships.csv"), index=False)
