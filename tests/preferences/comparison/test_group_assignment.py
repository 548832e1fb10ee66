"""Groups and support: those of the file first, then from records that are learned from."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.preferences.comparison.record_split import branch
from accordant.preferences.groups import EVERYBODY, groups_of
from accordant.preferences.records import Comparisons


def found(records, **changes):
    return groups_of(
        records,
        **({"declared": None, "declared_from": "", "imposed": False, "generator": branch(0, "groups")} | changes),
    )


def votes(*preferences):
    """Return records of users on the same pairs of two items; a preference is 1 for the first item."""
    table = np.array(preferences)
    users, pairs = (each.ravel() for each in np.indices(table.shape))
    first, second = 2 * pairs, 2 * pairs + 1
    one = table.ravel() == 1
    items = np.random.default_rng(0).normal(size=(2 * table.shape[1], 4))
    return Comparisons(items, np.where(one, first, second), np.where(one, second, first), users)


def test_groups_of_the_file_stand_largest_first(opposed):
    groups = found(opposed)
    assert groups.names == ("most", "few")
    assert (groups.majority, groups.minority) == ("most", "few")
    assert groups.sizes == {"most": 8, "few": 4}
    assert groups.of_user.tolist() == [0] * 8 + [1] * 4
    assert groups.training == opposed.groups
    assert groups.found == "groups: the file says them"
    assert "imposed" in found(opposed, imposed=True).found


def test_without_groups_whoever_most_disagree_with_is_in_the_minority():
    records = votes([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0])
    groups = found(records)
    # leave-one-out by hand: the last user's records have supporters 0, 0, 0 and 1 of 3
    assert groups.support == pytest.approx(
        [(2 / 3 * 3 + 1 / 3) / 4, (2 / 3 * 3 + 1 / 3) / 4, (2 / 3 * 3 + 1 / 3) / 4, 1 / 12]
    )
    assert groups.names == ("majority", "minority")
    assert groups.of_user.tolist() == [0, 0, 0, 1]
    assert groups.training == ("majority",) * 3 + ("minority",)
    assert not groups.declared
    assert "counted among the other users" in groups.support_found
    assert "100% of the training records have a rate" in groups.support_found


def test_without_a_minority_everybody_is_in_one_group():
    groups = found(votes([1, 1], [1, 1], [1, 1]))
    assert groups.names == (EVERYBODY,)
    assert groups.of_user.tolist() == [0, 0, 0]
    assert groups.majority == groups.minority == EVERYBODY
    assert any("nothing to compare" in warning for warning in groups.warnings)
    assert found(votes([1, 0, 1])).names == (EVERYBODY,)  # one user: no rate at all


def test_declared_rates_are_believed_and_unknown_users_are_in_no_group():
    records = votes([1, 1], [1, 1], [0, 1])
    declared = np.array([0.9, 0.9, np.nan, np.nan, 0.2, np.nan])
    groups = found(records, declared=declared, declared_from="somewhere")
    assert groups.support_found == "somewhere"
    np.testing.assert_array_equal(groups.support, [0.9, np.nan, 0.2])
    assert groups.of_user.tolist() == [0, -1, 1]
    assert groups.training[1] == "majority"
    assert groups.to_json()["unknown"] == 1


def test_more_than_two_groups_have_the_largest_and_the_smallest_as_roles(opposed):
    groups = found(opposed.with_groups(("a",) * 6 + ("b",) * 4 + ("c",) * 2))
    assert groups.names == ("a", "b", "c")
    assert (groups.majority, groups.minority) == ("a", "c")
