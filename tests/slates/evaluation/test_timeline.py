"""What stakeholders attain over time: against loops, and by hand."""

import json
import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.evaluation import over_time

UP, DOWN = [1.0, 0.0], [0.0, 1.0]


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


@pytest.mark.parametrize("window", [1, 2, 5, 48, 500])
@pytest.mark.parametrize("rule", ["total", "inn"])
def test_against_loop(served, rule, window):
    shown = served[rule]
    found, attained = over_time(shown, window), shown.gains.attained.tolist()
    before, changes = None, 0
    for t in range(len(shown.users)):
        means = [mean(row[: t + 1]) for row in attained]
        assert found.attained[:, t].tolist() == pytest.approx(means, nan_ok=True)
        assert found.gap[t] == pytest.approx(max(means) - min(means))
        assert found.shortfall[t] == pytest.approx(sum(means) / len(means) - min(means))
        recent = [mean(row[max(0, t + 1 - window) : t + 1]) for row in attained]
        if before is None or recent[before] > min(recent) + 1e-9:
            behind = next(i for i, value in enumerate(recent) if value <= min(recent) + 1e-9)
            changes += before is not None
            before = behind
        assert found.behind[t] == before
        assert found.changes[t] == changes
    assert found.churn == changes / (len(shown.users) - 1)
    assert found.days.tolist() == shown.days.tolist()
    json.dumps(found.to_json(), allow_nan=False)


def test_by_turns(lists_of):
    """Two stakeholders want opposite items and get them by turns: with a window of 1 it is always somebody else."""
    values = np.array([[UP] * 4, [DOWN] * 4]).transpose(0, 2, 1)
    shown = lists_of([[0], [1], [0], [1]], values)
    found = over_time(shown, window=1)
    assert found.behind.tolist() == [1, 0, 1, 0]
    assert found.churn == 1.0
    assert found.gap.tolist() == pytest.approx([1.0, 0.0, 1 / 3, 0.0])
    assert found.shortfall.tolist() == pytest.approx([0.5, 0.0, 1 / 6, 0.0])
    assert over_time(shown, window=2).churn == 0.0  # equals leave the one behind who was
    always = over_time(lists_of([[0]] * 4, values), window=1)
    assert always.churn == 0.0
    assert always.gap.tolist() == [1.0] * 4


def test_indifference_and_silence(lists_of):
    """Nobody is behind until a list makes a difference; weight 0 is not followed."""
    values = np.array([[[0.5, 1.0, 1.0], [0.5, 0.0, 0.0]], [[0.3, 0.0, 0.3], [0.3, 1.0, 0.3]], np.zeros((2, 3))])
    found = over_time(lists_of([[0], [0], [0]], values, weights=[1, 1, 0]))
    assert found.stakeholders == ("guest", "town")
    assert found.behind.tolist() == [-1, 1, 1]
    assert np.isnan(found.attained[:, 0]).all() and math.isnan(found.gap[0]) and math.isnan(found.shortfall[0])
    assert found.attained[:, 2].tolist() == [1.0, 0.0]
    assert found.churn == 0.0
    assert found.to_json()["behind"] == [None, "town", "town"]
    one = over_time(lists_of([[0]], np.array([[[1.0], [0.0]]])))
    assert one.churn is None and one.gap.tolist() == [0.0]


def test_window_is_checked(served):
    with pytest.raises(InputError, match="at least 1"):
        over_time(served["total"], 0)
