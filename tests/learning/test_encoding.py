"""The encoder: fixed at fit time, so a row alone is encoded as it is in the batch."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts
from accordant.errors import DataError
from accordant.learning.encoding import MANY_CATEGORIES, ContextEncoder, Encodings, one_hot

TRAIN = Contexts(
    {
        "age": [20.0, np.nan, 60.0, 30.0],
        "share": [0.1, 0.9, 0.5, 0.2],
        "city": ["Rome", "Bonn", "Rome", None],
        "same": [1.0, 1.0, 1.0, 1.0],
    }
)
COLUMNS = ("age", "share", "city", "same")


def test_matrix_by_hand():
    """age, share, same; whether age is missing; one column per category, a missing text being one."""
    assert ContextEncoder.fit(TRAIN, COLUMNS)(TRAIN).tolist() == [
        [20.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.0],
        [30.0, 0.9, 1.0, 1.0, 0.0, 1.0, 0.0],
        [60.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0],
        [30.0, 0.2, 1.0, 0.0, 1.0, 0.0, 0.0],
    ]


def test_a_row_alone_is_encoded_as_in_the_batch():
    encoder = ContextEncoder.fit(TRAIN, COLUMNS)
    batch = encoder(TRAIN)
    for row in range(4):
        assert np.array_equal(encoder(TRAIN.take(slice(row, row + 1)))[0], batch[row])


def test_numbers_are_not_scaled_and_medians_come_from_training():
    encoder = ContextEncoder.fit(TRAIN, ("age",))
    new = Contexts({"age": [1e9, np.nan, 0.0]})
    assert encoder(new)[:, 0].tolist() == [1e9, 30.0, 0.0]


def test_missing_numbers_where_none_were_missing_in_training():
    """They become the median; there is no indicator that a model could have learned from."""
    encoder = ContextEncoder.fit(TRAIN, ("share",))
    assert encoder(Contexts({"share": [np.nan]})).tolist() == [[0.35]]


def test_unseen_category_is_a_row_of_zeros():
    encoder = ContextEncoder.fit(TRAIN, ("city",))
    assert encoder(Contexts({"city": ["Oslo"]})).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("one", [1, 1.0, True, "1"])
def test_categories_that_look_like_numbers(one):
    """A file with the categories 1 and x is text; a single row of it that says 1 is read as a number."""
    encoder = ContextEncoder.fit(Contexts({"kind": ["1", "x", "1"]}), ("kind",))
    assert encoder(Contexts({"kind": [one]})).tolist() == [[1.0, 0.0]]


def test_a_batch_with_all_texts_missing():
    """Read from a file, such a column arrives as numbers that are all NaN."""
    encoder = ContextEncoder.fit(TRAIN, ("city",))
    assert encoder(Contexts({"city": [np.nan]})).tolist() == encoder(Contexts({"city": [""]})).tolist() == [[1, 0, 0]]


def test_a_number_that_arrives_as_text_is_an_error():
    encoder = ContextEncoder.fit(TRAIN, ("age",))
    with pytest.raises(DataError, match="'age' must be numeric"):
        encoder(Contexts({"age": ["old"]}))


@pytest.mark.parametrize("value", [1e308, -1e151])
def test_numbers_whose_squares_do_not_fit_a_float(value):
    with pytest.raises(DataError, match=r"'age' has .* in row 1; allowed: at most 1e\+150"):
        ContextEncoder.fit(Contexts({"age": [1.0, value]}), ("age",))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values(value):
    column = Contexts({"age": [1.0, value]})
    with pytest.raises(DataError, match="'age' has an infinite value in row 1"):
        ContextEncoder.fit(column, ("age",))
    with pytest.raises(DataError, match="'age' has an infinite value in row 1"):
        ContextEncoder.fit(TRAIN, ("age",))(column)


def test_nothing_to_encode():
    with pytest.raises(DataError, match="no feature columns"):
        ContextEncoder.fit(TRAIN, ())
    with pytest.raises(DataError, match="'age' has no values"):
        ContextEncoder.fit(Contexts({"age": [np.nan, np.nan]}), ("age",))


@pytest.mark.parametrize(
    ("n_texts", "n_rows", "refused"),
    [(MANY_CATEGORIES, MANY_CATEGORIES, False), (MANY_CATEGORIES + 1, 2 * (MANY_CATEGORIES + 1), False),
     (MANY_CATEGORIES + 1, 2 * MANY_CATEGORIES + 1, True)],
)  # fmt: skip
def test_many_texts_that_mostly_occur_once_are_identifiers(n_texts, n_rows, refused):
    contexts = Contexts({"id": [f"n{row % n_texts:03}" for row in range(n_rows)]})
    if refused:
        with pytest.raises(DataError, match=f"'id' holds {n_texts} different texts in {n_rows} rows, such as 'n000'"):
            ContextEncoder.fit(contexts, ("id",))
    else:
        assert ContextEncoder.fit(contexts, ("id",)).width == n_texts


def test_one_hot():
    assert one_hot(np.array([2, 0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_width_is_the_number_of_columns():
    for columns in (COLUMNS, ("age",), ("city",)):
        encoder = ContextEncoder.fit(TRAIN, columns)
        assert encoder(TRAIN).shape == (4, encoder.width)


def test_equal_encoders_share_a_matrix_and_others_do_not():
    made = Encodings(TRAIN)
    first, same, other = (ContextEncoder.fit(TRAIN, columns) for columns in (COLUMNS, COLUMNS, ("age", "city")))
    assert made.by(first) is made.by(same) is made.by(first)
    assert np.array_equal(made.by(other), other(TRAIN))
    assert np.array_equal(made.by(first), first(TRAIN))
