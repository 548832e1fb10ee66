"""Residents of the made-up town: what they want, and what they answer when asked which of two things is better.

With d the heat demand and b the rent burden of a home in standard units, a resident of some kind values

    Heat_pump    s (1 + k z) + g(o)        z = d, s = 1    like owners: old terraces need heat pumps most
    Insulation   g(o)                      z = b, s = −1   like tenants: where rents weigh much, heat pumps raise them
    Advice      −s (1 + k z) + g(o)

with g higher for lower bills, the same for everybody. Where all want the same, insulation adds `AGREED` instead and
nothing depends on the home. Answers follow Bradley and Terry (1952): the better of two is chosen with probability
σ(STEEPNESS · difference). Nothing in them says of which kind somebody is. Every resident is made up. Source: ours.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from accordant.arrays import Values
from accordant.cases.story.homes import ACTIONS, BURDEN, DEMAND, OUTCOMES, drawn_homes, standard

KINDS = ("like owners", "like tenants")
ALIKE = "alike"
PEOPLE, QUESTIONS = {"like owners": 39, "like tenants": 21, ALIKE: 60}, 30
SLOPE, STEEPNESS = 0.6, 2.5
BILLS = {"Bill_halved": 0.35, "Bill_lower": 0.05, "Bill_unchanged": -0.4}  # g
AGREED = 1.2
OWN = 0.15  # standard deviation of a resident's own liking of each action
SEED = 2026


def true_values(kind: str, homes: pd.DataFrame) -> Values:
    """Return what residents of a kind think of every action and outcome, shape (action, outcome, home)."""
    if kind == ALIKE:
        liking = np.where(np.array(ACTIONS) == "Insulation", AGREED, 0.0)[:, None] * np.ones(len(homes))
    else:
        sign, column = (1.0, DEMAND) if kind == KINDS[0] else (-1.0, BURDEN)
        strength = sign * (1.0 + SLOPE * standard(column, homes[column].to_numpy()))
        liking = np.stack([strength, np.zeros(len(homes)), -strength])
    return np.asarray(liking[:, None, :] + np.array([BILLS[name] for name in OUTCOMES])[None, :, None])


def answers(seed: int = SEED, *, alike: bool = False) -> pd.DataFrame:
    """Return the residents' comparisons of two actions with their outcomes, for a home that both share.

    Residents answer in random order of people, so that neither names nor lines tell kinds apart.
    """
    generator = np.random.default_rng(seed)
    kinds = [kind for kind in ((ALIKE,) if alike else KINDS) for _ in range(PEOPLE[kind])]
    asked = [_asked(kinds[place], generator) for place in generator.permutation(len(kinds))]
    names = np.repeat([f"resident{number:02}" for number in range(1, len(kinds) + 1)], QUESTIONS)
    return pd.concat(asked, ignore_index=True).assign(user_id=names)[["user_id", *asked[0].columns]]


def _asked(kind: str, generator: np.random.Generator) -> pd.DataFrame:
    """Return the answers of one resident."""
    homes = drawn_homes(QUESTIONS, generator)
    values = true_values(kind, homes) + generator.normal(0, OWN, len(ACTIONS))[:, None, None]
    cells = [(action, outcome) for action in ACTIONS for outcome in OUTCOMES]
    pairs = np.stack([generator.choice(len(cells), 2, replace=False) for _ in range(QUESTIONS)], axis=1)
    first, second = values.reshape(len(cells), QUESTIONS)[pairs, np.arange(QUESTIONS)]
    turned = generator.random(QUESTIONS) >= 1 / (1 + np.exp(-STEEPNESS * (first - second)))
    chosen, rejected = np.where(turned, pairs[::-1], pairs)
    return pd.DataFrame(
        {
            "chosen_action": [cells[cell][0] for cell in chosen],
            "chosen_outcome": [cells[cell][1] for cell in chosen],
            "rejected_action": [cells[cell][0] for cell in rejected],
            "rejected_outcome": [cells[cell][1] for cell in rejected],
            DEMAND: homes[DEMAND].astype(int),
            BURDEN: homes[BURDEN],
        }
    )
