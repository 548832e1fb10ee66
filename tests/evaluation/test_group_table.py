"""Group tables against loops over contexts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.evaluation import group_table


@pytest.mark.parametrize("attributes", [("sex",), ("sex", "age")])
def test_equals_the_loop(world, strategies, attributes):
    evidence = world(150)
    lines = strategies(evidence)
    table = group_table(lines, evidence, attributes)
    columns = [evidence.log.contexts[name] for name in attributes]
    keys = [" × ".join(str(int(c[t])) if c.dtype == float else str(c[t]) for c in columns) for t in range(150)]
    assert len(table.rows) == len(lines) * len(set(keys))
    for row in table.rows:
        inside = [t for t in range(150) if keys[t] == row.group]
        line = lines[row.strategy]
        chance = np.eye(3)[:, line.codes] if line.policy is None else line.policy
        share = sum(chance[0, t] + chance[1, t] for t in inside) / len(inside)
        assert row.n == len(inside)
        assert row.favourable_share == pytest.approx(share, abs=1e-12)
        for i, name in enumerate(("Bank", "Applicant")):
            mean = sum(chance[:, t] @ evidence.rewards[i, :, t] for t in inside) / len(inside)
            assert row.mean_rewards[name] == pytest.approx(mean, abs=1e-12)


def test_empty_groups_have_no_values(world, strategies):
    evidence = world(4, seed=1)
    table = group_table(strategies(evidence), evidence, ["sex", "age"])
    empty = [row for row in table.rows if row.n == 0]
    assert empty
    assert {(row.favourable_share, row.mean_rewards["Bank"]) for row in empty} == {(None, None)}
    json.dumps(table.to_json(), allow_nan=False)
    assert list(table.to_frame().columns) == [
        "strategy",
        "group",
        "n",
        "favourable share",
        "mean reward Bank",
        "mean reward Applicant",
    ]
