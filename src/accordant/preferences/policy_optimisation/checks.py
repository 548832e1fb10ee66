"""What rewards and reference policies must look like before anything is computed from them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError

SUM_TOLERANCE = 1e-6  # a reference read from a text file rarely sums to 1 more exactly than this
AXES = ("group", "candidate", "context")


def finite_array(name: str, given: ArrayLike, axes: tuple[str, ...]) -> Values:
    """Return a C-contiguous float array with the given axes, none of them empty.

    Parameters
    ----------
    name
        What the array is called in the message.
    given
        Finite numbers.
    axes
        The names of its axes; nothing is broadcast.

    Raises
    ------
    InputError
        If it has other axes, an empty axis, or numbers that are not finite.
    """
    try:
        array = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of numbers ({error})") from None
    if np.ndim(given) != len(axes) or 0 in array.shape:
        raise InputError(f"{name} has shape {np.shape(given)}; allowed: ({', '.join(axes)}), none of them empty")
    if not np.isfinite(array).all():
        raise InputError(
            f"{name} holds {int((~np.isfinite(array)).sum())} numbers that are NaN or infinite; allowed: none"
        )
    return array


def checked_rewards(rewards: ArrayLike, reference: ArrayLike) -> tuple[Values, Values]:
    """Return rewards of shape (group, candidate, context) and the reference policy that belongs to them.

    Raises
    ------
    InputError
        If a shape is wrong, a number is not finite, or the reference is no policy.
    """
    array = finite_array("rewards", rewards, AXES)
    return array, checked_reference(reference, array.shape[1:])


def checked_reference(reference: ArrayLike, shape: tuple[int, ...], name: str = "reference") -> Values:
    """Return a policy of shape (candidate, context) whose columns sum to 1 exactly (up to rounding).

    Parameters
    ----------
    reference
        Probabilities; 0 is allowed and takes the candidate out.
    shape
        Candidates and contexts of the rewards.
    name
        What the policy is called in the message.

    Raises
    ------
    InputError
        If the shape differs, a number is negative or not finite, or a column does not sum to 1 within 10⁻⁶.
    """
    array = finite_array(name, reference, AXES[1:])
    if array.shape != tuple(shape):
        raise InputError(
            f"{name} has shape {array.shape}; allowed: (candidate, context) of the rewards, here {tuple(shape)}"
        )
    totals = array.sum(axis=0)
    wrong = (array < 0).any(axis=0) | (np.abs(totals - 1) > SUM_TOLERANCE)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"{name} of context {first} has smallest probability {array[:, first].min():g} "
            f"and sum {totals[first]:g}; allowed: probabilities ≥ 0 that sum to 1"
        )
    return np.asarray(array / totals)


def checked_beta(beta: float) -> float:
    """Return the weight of the divergence.

    Raises
    ------
    InputError
        If it is negative or NaN. 0 and infinity are allowed: they are the limits.
    """
    if math.isnan(beta) or beta < 0:
        raise InputError(f"beta is {beta}; allowed: a number ≥ 0, or infinity")
    return float(beta)
