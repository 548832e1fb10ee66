"""Replay time-stamped ratings: what would have been predicted, and which alarms raised, as they came in.

[ours] Steps:

1. Everything before the time T, by when a share of all users has begun, is the past: it gives the pooled reward.
2. Users who begin at T or later are replayed, each by itself, two ratings at a time. Every rating is compared with
   earlier ones of the same user that differ by a gap, at most a few of them, drawn at random. These comparisons are
   predicted before either of the two ratings is learned from, then learned together; those of one rating weigh 1 in
   sum, because they share it.
3. The two new ratings are also compared with each other, if they differ by the gap: the *fresh* pairs. Each rating is
   in one of them at most, and nothing has learned from either side. Comparisons with earlier ratings are easier for
   whoever remembers: who has seen that a film got 5 stars knows that a film that differs got less.
4. The first part of each user's ratings chooses: the variance of the prior, then how much to forget, each by the
   smallest loss on fresh pairs, the same for all users. All figures come from the rest.
5. The detectors see the fresh pairs of the rest, and as reference the user's reward at the end of the first part.
   Comparisons that share a rating are dependent given the past, and would void both null hypotheses.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.drift.alarms import DriftAlarms, watch_agreement, watch_exchangeability
from accordant.preferences.drift.belief import Belief, TasteChange
from accordant.preferences.drift.rating_pairs import RatingStream, ReplayStart, pairs_with_earlier, split_users
from accordant.preferences.drift.sequential import Followed, follow
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.measures.intervals import RESAMPLES, UserIntervals, bootstrap_users
from accordant.preferences.measures.per_user import PerUser, per_user
from accordant.preferences.records import Ratings

Clock = Literal["ratings", "time"]

POOLED, STATIC, SEQUENTIAL, FORGETTING = "pooled", "per user, first part", "sequential", "sequential, forgetting"


@dataclass(frozen=True)
class ReplaySettings:
    """How ratings are replayed.

    Parameters
    ----------
    gap
        Smallest difference of two ratings that makes a comparison, above 0.
    most
        Most earlier ratings that a new one is compared with, at least 1.
    past
        Share of the users who have begun before the replay does, in (0, 1).
    first
        Share of each replayed user's ratings that is the first part, in (0, 1).
    variances
        Variances of the prior to choose from, above 0.
    kept
        Shares of the evidence left after a unit of time to choose from, each in (0, 1]; `TasteChange.kept`.
    clock
        ``"ratings"``: a unit of time passes with every two ratings that can be compared. ``"time"``: see `unit`.
    unit
        Length of a unit in `Ratings.times` for the clock ``"time"``, above 0; 86400 for days if times are in seconds.
    alpha
        Largest probability of any false alarm over all users, in (0, 1), for each detector.
    """

    gap: float = 1.0
    most: int = 4
    past: float = 0.5
    first: float = 0.5
    variances: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
    kept: tuple[float, ...] = (0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
    clock: Clock = "ratings"
    unit: float = 86400.0
    alpha: float = 0.05

    def __post_init__(self) -> None:
        for name in ("gap", "unit"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: above 0")
        if self.most < 1:
            raise InputError(f"most is {self.most}; allowed: at least 1")
        for name in ("past", "first", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: above 0 and below 1")
        if not self.variances or not self.kept:
            raise InputError("variances and kept must hold at least one number each")
        for variance in self.variances:
            Belief.around(np.zeros(1), variance)
        for kept in self.kept:
            TasteChange(kept)
        if self.clock not in get_args(Clock):
            raise UnknownNameError("clock", self.clock, get_args(Clock))


@dataclass(frozen=True, eq=False)
class Prequential:
    """How well each method predicted one kind of pairs.

    Attributes
    ----------
    methods
        ``"pooled"``: the pooled reward of the past. ``"per user, first part"``: learned once, from the user's first
        part. ``"sequential"``: learned on, nothing forgotten. ``"sequential, forgetting"``: with the chosen forgetting.
        Each with accuracy and loss of every user; the users are the same and in the same order.
    accuracy, log_loss
        Means over users, and paired differences, with intervals over users.
    """

    methods: dict[str, PerUser]
    accuracy: UserIntervals
    log_loss: UserIntervals

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "methods": {name: users.to_json() for name, users in self.methods.items()},
            "accuracy": self.accuracy.to_json(),
            "log_loss": self.log_loss.to_json(),
        }


@dataclass(frozen=True, eq=False)
class Replay:
    """What the replay found, on the ratings after each user's first part.

    Attributes
    ----------
    fresh
        On pairs of two new ratings.
    earlier
        On pairs of a new rating and an earlier one.
    variance, kept
        What the first parts chose.
    first_losses
        Mean loss on the first parts by what was tried: ``("variance", value)`` without forgetting, ``("kept", value)``
        at the chosen variance.
    agreement, exchangeability
        Alarms of the two detectors over all replayed users; their times count blocks of two ratings.
    start
        Who was replayed, and from when on.
    """

    fresh: Prequential
    earlier: Prequential
    variance: float
    kept: float
    first_losses: dict[tuple[str, float], float]
    agreement: DriftAlarms
    exchangeability: DriftAlarms
    start: ReplayStart

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "fresh": self.fresh.to_json(),
            "earlier": self.earlier.to_json(),
            "chosen": {"variance": self.variance, "kept": self.kept},
            "first_losses": [
                {"what": what, "value": value, "loss": loss} for (what, value), loss in self.first_losses.items()
            ],
            "alarms": [self.agreement.to_json(), self.exchangeability.to_json()],
            "start": asdict(self.start),
        }


def replay_ratings(
    ratings: Ratings,
    settings: ReplaySettings | None = None,
    *,
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Replay:
    """Replay ratings in order of time.

    Parameters
    ----------
    ratings
        With times; ties in the given order.
    settings
        None for the defaults.
    generator
        Draws the earlier ratings, breaks ties of the second detector and resamples users; the same state gives the same
        bytes.
    resamples
        Of users, for the intervals.

    Raises
    ------
    DataError
        If there are no times, no comparison before T, or no user with comparisons after the first part.
    """
    settings = settings or ReplaySettings()
    past, later, start = split_users(ratings, settings.past)
    before = pairs_with_earlier(past, gap=settings.gap, most=settings.most, generator=generator)
    if not len(before.comparisons):
        raise DataError("no two ratings of one user before the replay differ by the gap; allowed: at least one pair")
    pooled = BradleyTerry().fit(before.comparisons).coefficients
    stream = RatingStream.made(
        later, gap=settings.gap, most=settings.most, first=settings.first, generator=generator
    )  # fmt: skip
    variance, kept, losses = _chosen(stream, pooled, settings)
    margins, references = _predictions(stream, Belief.around(pooled, variance), kept, settings)
    fresh, earlier = (_measured(stream, margins, kind, generator, resamples) for kind in (stream.fresh, ~stream.fresh))
    alarms = _alarms(stream, references, settings.alpha, generator)
    return Replay(fresh, earlier, variance, kept, losses, *alarms, start)


def _followed(stream: RatingStream, rows: Codes, prior: Belief, kept: float, settings: ReplaySettings) -> Followed:
    """Follow some of the comparisons."""
    times = None if settings.clock == "ratings" else stream.times[rows] / settings.unit
    return follow(stream.comparisons.take(rows), prior, TasteChange(kept), times=times, blocks=stream.blocks[rows])


def _chosen(
    stream: RatingStream, pooled: Values, settings: ReplaySettings
) -> tuple[float, float, dict[tuple[str, float], float]]:
    """Return the variance and the share kept with the smallest loss on the first parts, and all losses."""
    rows = np.flatnonzero(stream.first)
    fresh, users = stream.fresh[rows], stream.comparisons.users[rows]
    if not fresh.any() or fresh.all():
        raise DataError("the first parts of replayed users hold no pairs that differ by the gap; allowed: at least one")
    losses: dict[tuple[str, float], float] = {}

    def tried(what: str, value: float, variance: float, kept: float) -> float:
        """Return the mean over users of the loss on fresh pairs of the first parts, and note it."""
        followed = _followed(stream, rows, Belief.around(pooled, variance), kept, settings)
        losses[what, value] = float(per_user(followed.margins[fresh], users[fresh]).log_loss.mean())
        return losses[what, value]

    variance = min(settings.variances, key=lambda value: tried("variance", value, value, 1.0))
    kept = min(settings.kept, key=lambda value: tried("kept", value, variance, value))
    return variance, kept, losses


def _predictions(
    stream: RatingStream, prior: Belief, kept: float, settings: ReplaySettings
) -> tuple[dict[str, Values], Values]:
    """Return margins of every method, and the reward of each user at the end of the first part, (user, feature)."""
    records, every = stream.comparisons, np.arange(len(stream.comparisons))
    begun = records.take(np.flatnonzero(stream.first))
    learned = follow(begun, prior, blocks=np.zeros(len(begun), dtype=np.intp))
    static = np.empty(len(records))
    for user, belief in enumerate(learned.beliefs):
        rows = np.flatnonzero(records.users == user)
        static[rows] = belief.margins(records.differences(rows))
    margins = {
        POOLED: np.asarray(records.differences() @ prior.mean),
        STATIC: static,
        SEQUENTIAL: _followed(stream, every, prior, 1.0, settings).margins,
        FORGETTING: _followed(stream, every, prior, kept, settings).margins,
    }
    return margins, np.stack([belief.mean for belief in learned.beliefs])


def _measured(
    stream: RatingStream, margins: dict[str, Values], kind: Mask, generator: np.random.Generator, resamples: int
) -> Prequential:
    """Measure all methods on one kind of comparisons after the first parts."""
    rows = np.flatnonzero(kind & ~stream.first)
    if not len(rows):
        raise DataError(
            "replayed users have no pairs that differ by the gap after the first part; allowed: at least one"
        )
    records = stream.comparisons
    weights = np.where(stream.fresh[rows], 1.0, records.record_weights[rows])
    methods = {
        name: per_user(margin[rows], records.users[rows], names=records.names, weights=weights)
        for name, margin in margins.items()
    }
    accuracy = {name: users.accuracy for name, users in methods.items()}
    loss = {name: users.log_loss for name, users in methods.items()}
    return Prequential(
        methods,
        bootstrap_users(accuracy, np.mean, generator=generator, resamples=resamples),
        bootstrap_users(loss, np.mean, generator=generator, resamples=resamples),
    )


def _alarms(
    stream: RatingStream, references: Values, alpha: float, generator: np.random.Generator
) -> tuple[DriftAlarms, DriftAlarms]:
    """Return the alarms of both detectors over all replayed users, in order of their blocks."""
    rows = np.flatnonzero(stream.fresh & ~stream.first)
    records = stream.comparisons
    users, order = records.users[rows], stream.blocks[rows].astype(np.float64)
    margins = np.einsum("rf,rf->r", records.differences(rows), references[users])
    return (
        watch_agreement(margins, alpha=alpha, streams=users, names=records.names, times=order),
        watch_exchangeability(
            margins, generator=generator, alpha=alpha, streams=users, names=records.names, times=order
        ),
    )  # fmt: skip
