"""What ``strategies --agreement`` prints of rules on a few contexts written out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.cli.axiom_table import Ground, as_json, findings, ground, show
from accordant.evaluation.agreement import agreement, rank_reversal
from accordant.utilities import ExpectedRewards

# Ann and Ben, actions x, y and z, five contexts: in the first they agree, then they differ, then Ann is tied, then both
# differ again; in the last, Borda's choice hangs on z, which y beats for both
VALUES = [
    [[0.9, 0.9, 0.5, 0.9, 0.9], [0.1, 0.1, 0.5, 0.1, 0.5], [0.0, 0.0, 0.0, 0.0, 0.1]],
    [[0.9, 0.1, 0.9, 0.1, 0.2], [0.1, 0.9, 0.1, 0.9, 0.4], [0.0, 0.0, 0.0, 0.0, 0.3]],
]


@pytest.fixture
def on():
    return Ground("E by hand", ExpectedRewards(np.array(VALUES), stakeholders=["Ann", "Ben"], actions=["x", "y", "z"]))


def test_shares_stand_above_the_diagonal_and_untied_ones_below(on, capsys):
    rules = [strategies.create("stakeholder", {"stakeholder": who}) for who in ("Ann", "Ben")]
    rules += [strategies.create("borda"), strategies.create("alpha_fairness", {"alpha": 3.0})]
    tables = {
        "agreement": agreement(rules, on.expected), "reversal": tuple(rank_reversal(rule, on.expected) for rule in rules)
    }  # fmt: skip
    show(on, tables)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "E by hand"
    shares = {line.split()[1]: line.split()[2:] for line in lines if line[:2].strip().isdecimal()}
    # Ann takes x, x, x, x, x and is tied in the third; Ben takes x, y, x, y, y: 3 of 5, and 3 of 4
    assert list(shares) == ["stakeholder:Ann", "stakeholder:Ben", "borda", "alpha_fairness[3]"]
    assert [line[:2].strip() for line in lines if line[:2].strip().isdecimal()] == ["1", "2", "3", "4"]
    assert ["rule", "1", "2", "3", "4"] in [line.split() for line in lines]  # columns have the numbers of rows
    assert shares["stakeholder:Ann"][0] == "60" and shares["stakeholder:Ben"][0] == "75"
    (example,) = (line.split() for line in lines if line.startswith("borda"))
    assert example[1:] == ["1/5", "1/5", "context", "4:", "y,", "but", "x", "without", "z"]
    assert [line.split()[1:] for line in lines if line.startswith("stakeholder:Ann")] == [["0/5", "0/5"]]
    shown = as_json(on, tables)
    assert shown["origin"] == "E by hand" and "axioms" not in shown
    assert [reversal["dominated"]["changed"] for reversal in shown["rank_reversal"]] == [0, 0, 1, 0]


def test_only_what_is_asked_for_is_made(on):
    assert findings(on, "borda", 0, axioms=False, agree=False) == {}
    assert set(findings(on, "borda", 0, axioms=False, agree=True)) == {"agreement", "reversal"}


def test_sampled_rewards_are_said_to_be_no_data():
    sampled = ground(None, None, 12, 3)
    assert sampled.expected.n_contexts == 12
    assert sampled.origin.startswith(
        "SAMPLED E: 3 stakeholders, 4 actions, 12 contexts, drawn at random with seed 3; no"
    )
    assert ground(None, None, None, 3).expected.n_contexts == 1000
