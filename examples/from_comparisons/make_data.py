"""Make the files of the tutoring cases from a stated truth: sessions, and what pupils, tutors and parents prefer.

The truth is what a test compares the learned rewards with. A person who is asked which of two cells is better takes
the one with the higher true reward with probability σ(12 · difference), so answers contradict each other now and then.
"""

from pathlib import Path

import numpy as np
import pandas as pd

SEED, ROWS = 11, 900
ACTIONS, OUTCOMES = ("Tutor", "Group", "Alone"), ("Passed", "Better", "Same")
TRUTH = {  # one row per action, one column per outcome
    "Pupils": [[0.9, 0.6, 0.3], [0.85, 0.55, 0.2], [1.0, 0.5, 0.0]],
    "Tutors": [[0.8, 0.7, 0.35], [1.0, 0.6, 0.15], [0.5, 0.25, 0.0]],
}
TRAVEL = {"Tutor": -0.1, "Group": -0.05, "Alone": 0.15}  # what 15 minutes more on the way change for pupils
MINUTES, SPREAD = 30.0, 15.0
STEEPNESS = 12.0
PEOPLE = {"Pupils": (12, 60), "Tutors": (6, 60)}  # how many answer how many questions each
PARENTS = {"town": 18, "country": 12}  # how many parents of each kind answer `QUESTIONS` each
QUESTIONS = 20
APART = {"town": 0.0, "country": 0.9}  # what learning alone is worth to them beyond what pupils say: they live far away


def truth(stakeholder: str, action: str, outcome: str, minutes: np.ndarray) -> np.ndarray:
    """Return the true reward of a cell for pupils with a way of so many minutes, shape (context,)."""
    base = TRUTH[stakeholder][ACTIONS.index(action)][OUTCOMES.index(outcome)]
    slope = TRAVEL[action] if stakeholder == "Pupils" else 0.0
    return base + slope * (np.asarray(minutes, dtype=float) - MINUTES) / SPREAD


def ways(generator: np.random.Generator, n: int) -> np.ndarray:
    """Return minutes on the way, shape (n,)."""
    return generator.normal(MINUTES, SPREAD, n).clip(5, 70).round()


def sessions(generator: np.random.Generator, rows: int = ROWS) -> pd.DataFrame:
    """Return pupils with what was arranged for them and what followed."""
    behind = generator.gamma(3.0, 4.0, rows).round(1)
    minutes = ways(generator, rows)
    language = generator.choice(["first", "second"], rows, p=[0.75, 0.25])
    lean = np.stack([0.08 * behind - 0.02 * minutes, np.zeros(rows), 0.02 * minutes - 0.08 * behind])
    action = (lean + generator.gumbel(size=lean.shape)).argmax(axis=0)
    gain = np.array([1.8, 1.1, 0.0])[action] * behind / 12 - 0.3 * (behind - 9) - 0.4 * (language == "second")
    result = np.digitize(-gain - generator.logistic(size=rows), [-1.2, 0.4])
    return pd.DataFrame(
        {
            "points_behind": behind,
            "minutes": minutes.astype(int),
            "language": language,
            "arranged": np.array(ACTIONS)[action],
            "result": np.array(OUTCOMES)[result],
        }
    )


def answers(generator: np.random.Generator, stakeholder: str) -> pd.DataFrame:
    """Return which of two cells each person prefers for a pupil with a way of so many minutes."""
    people, questions = PEOPLE[stakeholder]
    n = people * questions
    cells = [(action, outcome) for action in ACTIONS for outcome in OUTCOMES]
    pairs = np.array([generator.choice(len(cells), 2, replace=False) for _ in range(n)])
    minutes = ways(generator, n)
    values = np.stack([truth(stakeholder, *cell, minutes) for cell in cells])
    gap = values[pairs[:, 0], np.arange(n)] - values[pairs[:, 1], np.arange(n)]
    first = generator.random(n) < 1 / (1 + np.exp(-STEEPNESS * gap))
    chosen, rejected = np.where(first, pairs.T, pairs.T[::-1])
    who = stakeholder.lower()[:-1]
    return pd.DataFrame(
        {
            "user_id": [f"{who}{person + 1}" for person in range(people) for _ in range(questions)],
            "chosen_action": [cells[cell][0] for cell in chosen],
            "chosen_outcome": [cells[cell][1] for cell in chosen],
            "rejected_action": [cells[cell][0] for cell in rejected],
            "rejected_outcome": [cells[cell][1] for cell in rejected],
        }
        | ({"minutes": minutes.astype(int)} if stakeholder == "Pupils" else {})
    )


def parents(generator: np.random.Generator) -> pd.DataFrame:
    """Return which of two cells each parent prefers: those in the country, far more often than others, no tutor."""
    cells = [(action, outcome) for action in ACTIONS for outcome in OUTCOMES]
    rows = []
    for kind, people in PARENTS.items():
        values = [TRUTH["Pupils"][ACTIONS.index(a)][OUTCOMES.index(o)] + APART[kind] * (a == "Alone") for a, o in cells]
        for person in range(people):
            for _ in range(QUESTIONS):
                one, other = generator.choice(len(cells), 2, replace=False)
                if generator.random() > 1 / (1 + np.exp(-STEEPNESS * (values[one] - values[other]))):
                    one, other = other, one
                rows.append((f"{kind}{person + 1}", kind, *cells[one], *cells[other]))
    columns = ["user_id", "group_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome"]
    return pd.DataFrame(rows, columns=columns)


def make(seed: int = SEED) -> dict[str, pd.DataFrame]:
    """Return the name and the content of every file."""
    generator = np.random.default_rng(seed)
    return {
        "sessions.csv": sessions(generator),
        "pupils.csv": answers(generator, "Pupils"),
        "tutors.csv": answers(generator, "Tutors"),
        "parents.csv": parents(generator),
    }


if __name__ == "__main__":
    for name, frame in make().items():
        frame.to_csv(Path(__file__).with_name(name), index=False, lineterminator="\n")
