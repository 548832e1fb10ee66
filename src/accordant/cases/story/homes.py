"""Homes of a made-up town, the grants they got, and what became of their heating bills. All of it is simulated.

A home is an old terrace or a newer block (heat demand), in a street where rents weigh little or much (rent burden), in
some condition. Officers gave grants by condition, and in a good home any grant looks good: comparing the bills of those
who got one grant with those who got another misleads, and adjusting for the condition, which is recorded, does not.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.cases.loaders import simulators

ACTIONS = ("Heat_pump", "Insulation", "Advice")
OUTCOMES = ("Bill_halved", "Bill_lower", "Bill_unchanged")

DEMAND, BURDEN, CONDITION, DISTRICT = "Heat_demand", "Rent_burden", "Condition", "District"
DEMANDS, DEMAND_SPREAD = (105.0, 215.0), 12.0  # kWh per square metre and year: newer blocks, old terraces
BURDENS, BURDEN_SPREAD = (18.0, 38.0), 2.0  # per cent of income: streets where rents weigh little, and much
UNLIKE = 0.66  # share of homes where one of the two is high and the other low
OLD_TOWN = (0.25, 0.75)  # share of newer homes, and of old terraces, that stand in the old town

LEVELS = {  # log-odds of Bill_halved and Bill_lower against Bill_unchanged in a home of middle demand and condition
    "Heat_pump": (0.3, 0.5),
    "Insulation": (0.7, 1.0),
    "Advice": (-1.2, 0.0),
}
PER_DEMAND, PER_CONDITION = (0.3, 0.1), (0.9, 0.4)  # what one standard unit adds to them
GIVEN = {"Heat_pump": (-0.1, 0.9), "Insulation": (0.1, 0.0), "Advice": (0.0, -0.8)}
"""Log-weight of each action in the log: in a home of middle condition, and what one standard unit of condition adds."""


def standard(column: str, values: Values) -> Values:
    """Return demand, burden or condition in standard units: about −1 for low ones and 1 for high ones."""
    low, high = {DEMAND: DEMANDS, BURDEN: BURDENS, CONDITION: (3.5, 6.5)}[column]
    return (np.asarray(values, dtype=np.float64) - (low + high) / 2) / ((high - low) / 2)


def drawn_homes(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return homes as they were before any grant."""
    old = generator.random(rows) < 0.5
    dear = old ^ (generator.random(rows) < UNLIKE)
    demand = np.array(DEMANDS)[old.astype(int)] + generator.normal(0, DEMAND_SPREAD, rows)
    burden = np.array(BURDENS)[dear.astype(int)] + generator.normal(0, BURDEN_SPREAD, rows)
    return pd.DataFrame(
        {
            DEMAND: demand.round(),
            BURDEN: burden.round(1),
            CONDITION: np.clip(generator.normal(5.0, 1.5, rows), 0, 10).round(1),
            DISTRICT: np.where(generator.random(rows) < np.array(OLD_TOWN)[old.astype(int)], "Old_town", "Hill"),
        }
    )


@simulators.register("story")
def simulate_homes(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated homes with the grant that each got and what followed.

    The grant depends on condition, the outcome on grant, demand and condition as in `true_chances`, and on nothing
    else. Source: ours.
    """
    homes = drawn_homes(rows, generator)
    condition = standard(CONDITION, homes[CONDITION].to_numpy())
    taken = _drawn(np.stack([level + slope * condition for level, slope in GIVEN.values()]), generator)
    chances = true_chances(homes)[taken, :, np.arange(rows)].T
    return homes.assign(Grant=np.array(ACTIONS)[taken], Bill=np.array(OUTCOMES)[_drawn(np.log(chances), generator)])


def true_chances(homes: pd.DataFrame) -> Values:
    """Return the simulator's f(o | x, a), shape (action, outcome, home): a multinomial logistic model."""
    demand, condition = (standard(name, homes[name].to_numpy()) for name in (DEMAND, CONDITION))
    moved = np.outer((*PER_DEMAND, 0.0), demand) + np.outer((*PER_CONDITION, 0.0), condition)
    weights = np.exp(np.stack([np.array((*LEVELS[action], 0.0))[:, None] + moved for action in ACTIONS]))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _drawn(log_weights: Values, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return one draw per home with probabilities proportional to exp(log_weights), shape (home,)."""
    return np.asarray((log_weights + generator.gumbel(size=log_weights.shape)).argmax(axis=0))
