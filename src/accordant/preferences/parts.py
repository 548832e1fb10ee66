"""Parts of a comparison that are there where they were asked for: agreement with false stances, changes over time."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from accordant.arrays import Codes, Mask, Values
from accordant.naming import counted, listed
from accordant.preferences.comparison.agreement import (
    AgreementMeasures,
    MethodAgreement,
    disagreement_of,
    echo,
    measure_agreement,
)
from accordant.preferences.comparison.conclusions import share, signed
from accordant.preferences.comparison.methods import Features, scale_features
from accordant.preferences.comparison.over_time import OverTime, StreamWatch, past_records, watch_ratings, watch_records
from accordant.preferences.comparison.record_columns import AGREES, RecordTimes, read_agreement, read_times
from accordant.preferences.comparison.record_split import branch
from accordant.preferences.comparison.sources import Source, kind_of
from accordant.preferences.encoding import Encoder, LengthEncoder, encoders
from accordant.preferences.groups import Groups
from accordant.preferences.measures import Disagreement
from accordant.preferences.readers.movielens import RatingFactors, read_movielens
from accordant.preferences.records import Comparisons
from accordant.preferences.result import AgreementResult, OverTimeResult, PreferenceOptions

log = logging.getLogger("accordant.preferences")


@dataclass(frozen=True, eq=False)
class Beside:
    """What columns say of each record beside what learners read.

    Attributes
    ----------
    agrees
        Whether the chosen and whether the rejected response agrees with a false stance, shape (2, record); None
        unless asked for.
    times
        When each record was made; None unless asked for, and of ratings, which have their own times.
    columns
        The columns that were read so, which are no features.
    """

    agrees: Mask | None = None
    times: RecordTimes | None = None
    columns: tuple[str, ...] = ()


def read_beside(path: Path, options: PreferenceOptions) -> Beside:
    """Read the columns that the parts of a comparison need; raises `InputError` if the file lacks them."""
    if not (options.agreement or options.over_time):
        return Beside()
    kind = kind_of(path, options.source.format)
    agrees = read_agreement(path, kind) if options.agreement else None
    times = read_times(path, kind, options.time) if options.over_time and kind != "movielens" else None
    columns = (() if agrees is None else AGREES) + (() if times is None else (options.time,))
    return Beside(agrees, times, columns)


def described(source: Source, training: Codes, encoder: Encoder) -> dict[Features, Comparisons]:
    """Return all records with features: encoders and scales see training records alone while they are fitted."""
    if source.texts is None:
        assert source.comparisons is not None
        return {"encoder": scale_features(source.comparisons, training, each=True)}
    log.info("encoding texts")
    encoder.fit(source.texts.take(training).texts(prompts=encoder.prompts))
    records: dict[Features, Comparisons] = {
        "encoder": source.texts.encode(encoder), "length": source.texts.encode(LengthEncoder()),
    }  # fmt: skip
    return {name: scale_features(comparisons, training, each=False) for name, comparisons in records.items()}


def agreement_on(
    margins: Mapping[str, Values], agrees: Mask, source: Source, test: Codes, groups: Groups, looked_at: str | None,
    options: PreferenceOptions,
) -> AgreementResult:  # fmt: skip
    """Return what methods do with agreement, what they show to whom, and what no single reward can remove.

    Parameters
    ----------
    margins
        Method to the margins of the test records, the pooled reward first.
    agrees
        As `Beside.agrees`, of all records.
    source, test
        All records, and the rows that are judged by.
    groups
        Of the users.
    looked_at
        The method whose loss is compared with the floor; None for none.
    options
        Resamples and the seed.
    """
    generator = branch(options.seed, "agreement")
    common: dict[str, Any] = {"generator": generator, "resamples": options.resamples}
    users, items = source.users[test], source.items[:, test]
    measured = measure_agreement(margins, agrees[:, test], users, source.pairs[test], **common)
    echoes = echo(margins, items, users, groups.of_user[users], len(groups.names), **common)
    own = [margins[looked_at]] if looked_at is not None and looked_at in margins else []
    disagreement = disagreement_of([next(iter(margins.values())), *own], items, users, **common)
    said = [*map(_drift_words, measured.methods), *_floor_words(disagreement, looked_at if own else None)]
    return AgreementResult.model_validate({
        **vars(measured),
        "echo": echoes,
        "disagreement": None if disagreement is None else {
            "method": looked_at if own else None, **asdict(disagreement),
        },
        "sentences": (_chosen_words(measured), *said),
    })  # fmt: skip


def _chosen_words(measures: AgreementMeasures) -> str:
    chosen = measures.chosen
    assert chosen.value is not None
    low, high = chosen.low, chosen.high
    limits = "" if low is None or high is None else f" [{0.5 + low:.3f}, {0.5 + high:.3f}]"
    return (
        f"Of {measures.records} choices between a response that agrees with a false stance and one that does not, "
        f"{share(0.5 + chosen.value)}{limits} are for the one that agrees."
    )


def _drift_words(agreement: MethodAgreement) -> str:
    drift = agreement.drift
    assert drift.value is not None
    if drift.low is None or drift.high is None or drift.low <= 0 <= drift.high:
        return f"{agreement.method}: no drift of agreement is shown."
    moves = "raises" if drift.low > 0 else "lowers"
    return (
        f"{agreement.method}: optimising for it {moves} agreement with false stances by {signed(drift.value)} "
        f"[{signed(drift.low)}, {signed(drift.high)}]."
    )


def _floor_words(disagreement: Disagreement | None, own: str | None) -> list[str]:
    if disagreement is None:
        return ["No two users compared the same pair: how much no single reward can remove is not known."]
    what = "nats of the loss per label no single reward can remove"
    on = f"{disagreement.n_labels} labels on {counted(disagreement.n_pairs, 'pair')}"
    said = [f"{on}: at least {disagreement.floor} {what}."]
    below = disagreement.below_floor
    if below is not None and below.low is not None and below.low > 0:
        said.append(f"{own} goes below that by {below.value:.3f}: knowing the user gains what no single reward can.")
    return said


def watch_over_time(
    path: Path, source: Source, beside: Beside, options: PreferenceOptions
) -> OverTimeResult | None:  # fmt: skip
    """Return whether preferences changed while the records were made; None unless asked for.

    Parameters
    ----------
    path
        The file, or the folder of MovieLens.
    source, beside
        Its records, and their times.
    options
        Encoder, resamples and the seed.
    """
    if not options.over_time:
        return None
    if beside.times is None:
        films = read_movielens(path if path.is_dir() else path.parent, factors=RatingFactors(seed=options.seed))
        generator = branch(options.seed, "time")
        over_time, label = watch_ratings(films.ratings, generator=generator, resamples=options.resamples), "{:g}".format
        return _over_time(over_time, str(_date(over_time.start / SECONDS)), label)
    times = beside.times.values
    _, past = past_records(times)
    records = described(source, past, encoders.create(options.encoder))["encoder"]
    over_time = watch_records(records, times, declared=records.groups is not None)
    return _over_time(over_time, beside.times.label(over_time.start), beside.times.label)


SECONDS = 86_400  # of a day: times of MovieLens are in seconds


def _date(days: float) -> dt.date:
    return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=days)).date()


def _over_time(over_time: OverTime, since: str, label: Any) -> OverTimeResult:
    def stream(watch: StreamWatch) -> dict[str, Any]:
        """Return one stream, with the time in words."""
        return {**vars(watch), "when": "" if watch.time is None else label(watch.time)}

    groups, users = list(map(stream, over_time.groups)), list(map(stream, over_time.users))
    values = {**vars(over_time), "since": since, "groups": groups, "users": users}
    return OverTimeResult.model_validate({**values, "sentences": tuple(_change_words(over_time, since, groups, users))})


def _change_words(
    over_time: OverTime, since: str, groups: list[dict[str, Any]], users: list[dict[str, Any]]
) -> list[str]:
    """Say what was noticed and when, and what was not."""
    what = "records" if over_time.kind == "records" else "pairs of ratings"
    bound = f"the probability of any false alarm is at most {share(over_time.alpha)}"
    said = [f"{over_time.watched} {what} since {since} were watched; {bound}."]
    said += [
        f"{group['name']}: a change of preferences was noticed at {group['when']}, after {group['alarm']} of "
        f"{group['records']} records."
        for group in groups
        if group["alarm"] is not None
    ]
    alarmed = [user for user in users if user["alarm"] is not None]
    if alarmed:
        said.append(f"{len(alarmed)} of {len(users)} users: a change was noticed; JSON and page say when.")
    quiet = [group["name"] for group in groups if group["alarm"] is None]
    if quiet:
        said.append(f"{listed(quiet)}: no change is shown.")
    if not alarmed:
        said.append(
            f"No change of a single user is shown; {over_time.able} of {len(users)} have records enough for one."
        )
    for name, loss in over_time.learning.items():
        shown = loss.low is not None and loss.high is not None and (loss.high < 0 or loss.low > 0)
        limits = f" [{signed(loss.low)}, {signed(loss.high)}]" if loss.low is not None and loss.high is not None else ""
        said.append(f"Loss of {name}: {signed(loss.value or 0.0)}{limits}{'' if shown else ', no difference shown'}.")
    return said
