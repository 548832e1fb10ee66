"""What ``population`` prints of multipliers and means, for all rows and each group."""

from __future__ import annotations

import pytest

from accordant.cli.population_table import population_table, print_population
from accordant.runs.sections.population import FittedPopulation, PopulationFit, StakeholderFit

WHO = StakeholderFit(stakeholder="Bank", multiplier=0.25, multiplier_of_run=0.5, mean=0.75, mean_of_run=0.625, best=0.8)


def fit(**changes):
    given = {"group": None, "rows": 1_200, "value": 0.5, "gap": 0.0, "passes": 3, "stakeholders": (WHO,)}
    return PopulationFit(**given | changes)


def test_multipliers_and_means_stand_beside_those_of_the_run():
    table = population_table(fit())
    assert table.title == "all rows: 1,200" and population_table(fit(group="north", rows=9)).title == "north: 9"
    assert [str(column.header) for column in table.columns] == [
        "stakeholder", "counts", "in the run", "mean reward", "in the run", "best policy"
    ]  # fmt: skip
    assert [[str(cell) for cell in column.cells] for column in table.columns] == [
        ["Bank"], ["0.2500"], ["0.5000"], ["0.7500"], ["0.6250"], ["0.8000"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "best policy: 0.500000; any other adds less than 1e-09; 3 passes over E"),
        ({"gap": 1e-9}, "best policy: 0.500000; any other adds at most 1e-09; 3 passes over E"),
        ({"gap": 0.002, "passes": 1}, "best policy: 0.500000; any other adds at most 2e-03; 1 pass over E"),
        ({"gap": None, "value": None},
         "best policy: not defined; how much better another could be is not known; 3 passes over E"),
    ],
)  # fmt: skip
def test_how_good_the_policy_is_at_most_is_told_of_each_group(changes, sentence, capsys, tmp_path):
    fitted = FittedPopulation.model_construct(strategy="population_maximin", fits=(fit(), fit(group="a", **changes)))
    print_population(fitted, tmp_path)
    told = capsys.readouterr().out
    assert told.startswith("strategy: population_maximin\n") and told.endswith(f"E and multipliers: {tmp_path}\n")
    assert [line for line in told.splitlines() if line.startswith("best policy: ")][1] == sentence
