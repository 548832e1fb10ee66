"""Users of several styles, made up with declared shares: what a data set without users needs to have a minority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, InputError, UnknownNameError

ROUNDING = 1e-9  # by how much shares of users and of tastes may miss 1


@dataclass(frozen=True, eq=False)
class StyleUsers:
    """Users and how much each likes every style.

    Parameters
    ----------
    styles
        Names of the styles.
    tastes
        At least 0, each row with the sum 1, shape (user, style). A user prefers style d to style s with probability
        taste d / (taste d + taste s): Bradley and Terry's model with strengths of tastes.
    groups
        Group of each user.

    Raises
    ------
    DataError
        If shapes or numbers are wrong.
    """

    styles: tuple[str, ...]
    tastes: Values
    groups: tuple[str, ...]

    def __post_init__(self) -> None:
        tastes = np.asarray(self.tastes, dtype=np.float64)
        if tastes.shape != (len(self.groups), len(self.styles)):
            raise DataError(f"tastes have shape {tastes.shape}; allowed: {(len(self.groups), len(self.styles))}")
        if not (tastes >= 0).all() or (np.abs(tastes.sum(axis=1) - 1) > ROUNDING).any():
            raise DataError("tastes must be at least 0, and those of a user must have the sum 1")
        if len(set(self.styles)) < len(self.styles):
            raise DataError(f"styles are {', '.join(self.styles)}; allowed: different names")
        if not self.groups:
            raise DataError("there are no users; allowed: at least one")
        object.__setattr__(self, "tastes", tastes)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def shares(self) -> dict[str, float]:
        """Share of the users in each group, in the order in which groups first occur."""
        return {group: self.groups.count(group) / len(self) for group in dict.fromkeys(self.groups)}

    def support(self) -> Values:
        """Return the expected share of *other* users who prefer one style to another, shape (user, style, style).

        Entry (u, d, s) is the mean over users v ≠ u of taste d / (taste d + taste s) of v. Who likes neither style is
        not asked; NaN where nobody is left, and for a style against itself.
        """
        one, two = self.tastes[:, :, None], self.tastes[:, None, :]
        asked = (one + two) > 0
        agree = np.divide(one, one + two, out=np.zeros(asked.shape), where=asked)
        others = asked.sum(axis=0) - asked
        agreeing = agree.sum(axis=0) - agree
        share = np.divide(agreeing, others, out=np.full(asked.shape, np.nan), where=others > 0)
        share[:, np.arange(len(self.styles)), np.arange(len(self.styles))] = np.nan
        return np.asarray(np.clip(share, 0.0, 1.0))


def dirichlet_users(n_users: int, concentrations: Mapping[str, float], *, generator: np.random.Generator) -> StyleUsers:
    """Return users whose tastes are drawn from a Dirichlet distribution; a user's group is the style liked best.

    Parameters
    ----------
    n_users
        Number of users, at least 1.
    concentrations
        Style to its concentration, above 0. Their ratios are mean tastes; small ones make users one-sided, large ones
        make them alike.
    generator
        Source of the draw.
    """
    _check_number_of_users(n_users)
    wrong = {style: value for style, value in concentrations.items() if not 0 < value < np.inf}
    if wrong or not concentrations:
        raise InputError(f"concentrations are {wrong or dict(concentrations)}; allowed: above 0 for each style")
    styles = tuple(concentrations)
    tastes = generator.dirichlet(list(concentrations.values()), size=n_users)
    return StyleUsers(styles, tastes, tuple(styles[best] for best in tastes.argmax(axis=1)))


def users_by_share(
    n_users: int, shares: Mapping[str, float], *, styles: Sequence[str], loyalty: float = 1.0
) -> StyleUsers:
    """Return users who each have a home style, with given shares of users per home style.

    Nothing is drawn: numbers of users are shares rounded by largest remainders (Hamilton's method), ties to the style
    declared first, and users of one style stand together.

    Parameters
    ----------
    n_users
        Number of users, at least 1.
    shares
        Home style to the share of the users, at least 0, with the sum 1. It is also their group.
    styles
        All styles.
    loyalty
        Taste for the home style, in (0, 1]; the others share the rest evenly.
    """
    _check_number_of_users(n_users)
    for style in shares:
        if style not in styles:
            raise UnknownNameError("style", style, styles)
    wrong = any(not 0 <= share <= 1 for share in shares.values())
    if wrong or abs(sum(shares.values()) - 1) > ROUNDING:
        raise InputError(f"shares are {dict(shares)}; allowed: at least 0, with the sum 1")
    if not 0 < loyalty <= 1 or (len(styles) == 1 and loyalty != 1):
        raise InputError(f"loyalty is {loyalty}; allowed: above 0, at most 1, and 1 if there is one style")
    exact = np.array(list(shares.values())) * n_users
    counts = np.floor(exact + ROUNDING).astype(int)
    by_remainder = np.argsort(-np.round(exact - counts, 9), kind="stable")
    counts[by_remainder[: n_users - counts.sum()]] += 1
    groups = tuple(style for style, count in zip(shares, counts, strict=True) for _ in range(count))
    tastes = np.full((n_users, len(styles)), (1 - loyalty) / max(1, len(styles) - 1))
    tastes[np.arange(n_users), [tuple(styles).index(group) for group in groups]] = loyalty
    return StyleUsers(tuple(styles), tastes, groups)


def _check_number_of_users(n_users: int) -> None:
    if n_users < 1:
        raise InputError(f"n_users is {n_users}; allowed: at least 1")
