"""What one policy can give two groups that want opposite things: an illustration, not a theorem.

A share p of people prefers A, the others B. One policy that plays A with probability q satisfies the first with q and
the second with 1 − q. So the mean satisfaction is p q + (1 − p)(1 − q), and the worst group gets min(q, 1 − q) ≤ ½
whatever q and p are; a policy that knows whom it speaks to gives both 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from accordant.errors import InputError


@dataclass(frozen=True)
class Satisfaction:
    """What a policy gives the two groups.

    Attributes
    ----------
    policy
        Its name.
    play
        q, the probability that it plays A; None if it depends on the person.
    mean
        Mean satisfaction over people.
    worst_group
        Satisfaction of the worse-off group.
    """

    policy: str
    play: float | None
    mean: float
    worst_group: float


def one_policy(share: float, play: float, name: str = "one policy") -> Satisfaction:
    """Return what one policy for all gives the two groups.

    Parameters
    ----------
    share
        p, the share that prefers A, 0 < p < 1.
    play
        q, the probability of A, 0 ≤ q ≤ 1.
    name
        What the row is called.

    Raises
    ------
    InputError
        If one of the numbers is outside its range.
    """
    _check_share(share)
    if not 0 <= play <= 1:
        raise InputError(f"play is {play}; allowed: a probability")
    mean = share * play + (1 - share) * (1 - play)
    return Satisfaction(name, float(play), float(mean), float(min(play, 1 - play)))


def opposed_groups_table(share: float = 0.51) -> tuple[Satisfaction, ...]:
    """Return the rows majority, proportional, maximin and personalised.

    Parameters
    ----------
    share
        p, the share that prefers A, 0 < p < 1. With p = ½ there is no majority, and its row tosses a coin.

    Raises
    ------
    InputError
        If the share is outside its range.
    """
    _check_share(share)
    majority = 0.5 if share == 0.5 else float(share > 0.5)
    return (
        one_policy(share, majority, "majority"),
        one_policy(share, share, "proportional"),
        one_policy(share, 0.5, "maximin"),
        Satisfaction("personalised", None, 1.0, 1.0),
    )


def _check_share(share: float) -> None:
    """Raise InputError unless both groups have people."""
    if not 0 < share < 1:
        raise InputError(f"share is {share}; allowed: above 0 and below 1, so that both groups have people")
