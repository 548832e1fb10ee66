"""Expected rewards: shapes, names, range, and memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from accordant.errors import InputError, RewardError, UnknownNameError
from accordant.utilities import TOLERANCE, ExpectedRewards

NAMES = {"stakeholders": ["Bank", "Applicant"], "actions": ["Grant", "Lower", "Deny"]}


def test_one_context_and_many():
    one = ExpectedRewards([[0, 0.5, 1], [1, 0.5, 0]], **NAMES)
    assert one.values.shape == (2, 3, 1)
    assert one.values.dtype == np.float64
    assert one.n_contexts == 1
    assert ExpectedRewards(np.zeros((2, 3, 7)), **NAMES).n_contexts == 7
    assert ExpectedRewards(np.zeros((2, 3, 0)), **NAMES).n_contexts == 0
    assert (one.stakeholders, one.actions) == (("Bank", "Applicant"), ("Grant", "Lower", "Deny"))


def test_float32_stays_and_layout_is_contiguous():
    values = np.random.default_rng(0).random((7, 3, 2)).astype(np.float32).T
    kept = ExpectedRewards(values, **NAMES)
    assert kept.values.dtype == np.float32
    assert kept.values.flags.c_contiguous
    np.testing.assert_array_equal(kept.values, values)
    for dtype in (np.float16, np.int64, bool, object):
        assert ExpectedRewards(np.ones((2, 3), dtype=dtype), **NAMES).values.dtype == np.float64


def test_of_and_take():
    values = np.random.default_rng(1).random((2, 3, 5))
    expected = ExpectedRewards(values, **NAMES)
    np.testing.assert_array_equal(expected.of("Applicant"), values[1])
    np.testing.assert_array_equal(expected.take(np.array([4, 0])).values, values[:, :, [4, 0]])
    assert expected.take(slice(0, 2)).values.flags.c_contiguous
    with pytest.raises(UnknownNameError, match="unknown stakeholder 'bank'; did you mean 'Bank'"):
        expected.of("bank")


@pytest.mark.parametrize("value", [np.nan, 1.1, -0.1, 1 + 2 * TOLERANCE, -2 * TOLERANCE, np.inf, -np.inf])
@pytest.mark.parametrize("where", [(0, 0, 0), (1, 2, 4), (0, 1, 3)])
def test_wrong_values_are_located(value, where):
    values = np.full((2, 3, 5), 0.5)
    values[where] = value
    names = f"stakeholder {NAMES['stakeholders'][where[0]]!r} for action {NAMES['actions'][where[1]]!r} in context {where[2]}"
    with pytest.raises(RewardError) as caught:
        ExpectedRewards(values, **NAMES)
    assert names in str(caught.value)
    assert str(caught.value).endswith("allowed: [0, 1]")


def test_rounding_is_tolerated():
    assert ExpectedRewards(np.full((2, 3), 1 + 0.5 * TOLERANCE), **NAMES).values.max() > 1
    assert ExpectedRewards(np.full((2, 3), -0.5 * TOLERANCE), **NAMES).values.min() < 0


@pytest.mark.parametrize(("values", "names", "message"), [
    (np.zeros((3, 2)), NAMES, r"shape \(3, 2\) do not fit 2 stakeholders × 3 actions × contexts"),
    (np.zeros(6), NAMES, r"shape \(6,\) do not fit"),
    (np.zeros((2, 3, 1, 1)), NAMES, "do not fit"),
    (0.5, NAMES, r"shape \(\) do not fit"),
    (np.zeros((0, 3)), NAMES | {"stakeholders": []}, "at least one stakeholder and one action"),
    (np.zeros((2, 0)), NAMES | {"actions": []}, "at least one stakeholder and one action"),
    (np.zeros((2, 3)), NAMES | {"stakeholders": ["Bank", "Bank"]}, "names of expected rewards repeat: Bank, Bank"),
    (np.zeros((2, 3)), NAMES | {"actions": ["a", "b", "a"]}, "names of expected rewards repeat"),
    ([["a", "b", "c"]] * 2, NAMES, "expected rewards must be a"),
    ([[0.1, 0.2, 0.3], [0.1]], NAMES, "expected rewards must be a"),
])  # fmt: skip
def test_wrong_arrays(values, names, message):
    with pytest.raises(InputError, match=message):
        ExpectedRewards(values, **names)


def test_nobody_changes_expected_rewards_afterwards():
    given = np.full((2, 3, 4), 0.5)
    expected = ExpectedRewards(given, **NAMES)
    given[0, 0, 0] = 7.0
    assert expected.values.max() == 0.5
    with pytest.raises(ValueError, match="read-only"):
        expected.values[0, 0, 0] = 0.1
    with pytest.raises(ValueError, match="read-only"):
        expected.take(slice(0, 2)).values[0, 0, 0] = 0.1


def test_mapped_and_read_only_arrays_are_not_copied(tmp_path):
    np.save(tmp_path / "e.npy", np.full((2, 3, 4), 0.5))
    for mode in ("r", "r+"):
        mapped = np.load(tmp_path / "e.npy", mmap_mode=mode)
        assert np.shares_memory(ExpectedRewards(mapped, **NAMES).values, mapped)
        assert mapped.flags.writeable == (mode == "r+")  # theirs stays as it was
    fixed = np.full((2, 3, 4), 0.5)
    fixed.flags.writeable = False
    assert np.shares_memory(ExpectedRewards(fixed, **NAMES).values, fixed)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (np.ma.masked_array(np.full((2, 3), 0.5), mask=np.eye(2, 3)), "a masked array"),
        (np.full((2, 3), 0.5 + 0.1j), "an array of complex numbers"),
        (np.full((2, 3), "0.5"), "an array of text"),
        (csr_array(np.full((2, 3), 0.5)), "a sparse matrix"),
    ],
)
def test_what_numpy_would_silently_read_otherwise_is_refused(values, found):
    with pytest.raises(InputError, match=f"expected rewards must be a dense array of real numbers; found {found}"):
        ExpectedRewards(values, **NAMES)


@pytest.mark.parametrize(("wrong", "right"), [(1.5, 1.0), (-0.5, 0.0), (1.5, 1 + 0.5 * TOLERANCE)])
def test_the_limits_themselves_are_not_named_wrong(wrong, right):
    values = np.full((2, 3, 5), right)
    values[1, 2, 4] = wrong
    with pytest.raises(RewardError, match="in context 4 is"):
        ExpectedRewards(values, **NAMES)
