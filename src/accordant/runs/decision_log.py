"""The log of decisions: one JSON object per line for each row that `accordant recommend --log` decided.

A log is appended to, day after day; what is monitored later is read from it, line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, PlainSerializer

from accordant.arrays import AnyArray
from accordant.declaration import Declared
from accordant.errors import DataError, InputError, SpecError
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.tables.output import Input, check_output, is_standard_output
from accordant.tables.text import Entry, stream_json_lines

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Cell = Finite | str | None
"""A value of a context: a number, a text, or None where it is missing."""


def _in_utc(time: datetime) -> datetime:
    return time.astimezone(UTC)


Time = Annotated[AwareDatetime, AfterValidator(_in_utc), PlainSerializer(lambda time: time.isoformat())]


class DecisionLine(Declared):
    """One decision of a finished run.

    Attributes
    ----------
    time
        When it was taken, ISO 8601 in UTC.
    run
        The SHA-256 of the run's manifest, in hexadecimal digits: the version of everything that decided.
    row
        The row's name, from the column named with ``--id``; otherwise its number in the file, from 0.
    context
        Column to value, for all columns that models and rule read; None where a value is missing.
    expected_rewards
        Stakeholder to action to expected reward, in [0, 1].
    action
        What was recommended; None where a person decides.
    runner_up
        The action with the next best score; None if there is none.
    margin
        Score of the action minus that of the runner-up, in the strategy's own unit; None if there is no runner-up.
    remarks
        What is unusual about the row, whether it was decided by somebody's adoption or the declared fall-back, and the
        strategy's flags, such as ``no_agreement``.
    referral
        Whether a person decides.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    time: Time
    run: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    row: Annotated[int, Field(strict=True, ge=0)] | str
    context: dict[str, Cell]
    expected_rewards: dict[str, dict[str, Annotated[float, Field(allow_inf_nan=False, strict=True, ge=0, le=1)]]]
    action: str | None
    runner_up: str | None
    margin: Finite | None
    remarks: tuple[str, ...]
    referral: Annotated[bool, Field(strict=True)]

    @classmethod
    def read(cls, entry: Entry) -> Self:
        """Return a line that was read.

        Raises
        ------
        DataError
            If it has not these keys and values; file, line, key, and what is allowed are named.
        """
        try:
            return cls(**entry.values)
        except SpecError as error:
            raise DataError(f"{entry.where}: {error.detail}") from None

    def line(self) -> str:
        """Return it as one line of JSON, with its end."""
        return self.model_dump_json() + "\n"


def read_decisions(path: str | Path) -> Iterator[DecisionLine]:
    """Yield the decisions of a log, one at a time: nothing grows with its length; blank lines are left out.

    Raises
    ------
    DataError
        If the file cannot be read or holds no decision, or a line is none; file and line are named.
    """
    empty = True
    for entry in stream_json_lines(path):
        empty = False
        yield DecisionLine.read(entry)
    if empty:
        raise DataError(f"{path} holds no decision; allowed: what accordant recommend --log wrote")


def check_log(log: Path, others: Iterable[Input]) -> None:
    """Refuse a place for a log, before the work.

    Raises
    ------
    InputError
        If it is standard output, what a command reads or writes beside it, or what `check_output` refuses.
    """
    if is_standard_output(log):
        raise InputError(f"a log is added to and cannot be standard output; found {log}, allowed: a file")
    check_output(log, others)


def decision_lines(
    recommended: Recommendations, cells: dict[str, list[Any]], rows: list[int] | list[str], *, run: str, time: datetime
) -> Iterator[DecisionLine]:
    """Yield what a log keeps of recommendations.

    Parameters
    ----------
    recommended
        What was recommended.
    cells
        Column to one value per context; NaN and empty texts are missing.
    rows
        The name or number of each context.
    run
        The hash of the run's manifest.
    time
        When it was decided.
    """
    decisions, expected = recommended.decisions, recommended.expected
    remarks, referred = _remarks(recommended), recommended.referred.tolist()
    values, margins = expected.values.tolist(), recommended.margin.tolist()
    actions, runners_up = decisions.actions.tolist(), recommended.runner_up.tolist()
    for t, row in enumerate(rows):
        yield DecisionLine(
            time=time, run=run, row=row,
            context={name: _cell(column[t]) for name, column in cells.items()},
            expected_rewards={
                who: {what: values[i][a][t] for a, what in enumerate(expected.actions)}
                for i, who in enumerate(expected.stakeholders)
            },
            action=actions[t] or None, runner_up=runners_up[t] or None, margin=finite(margins[t]),
            remarks=remarks[t], referral=referred[t],
        )  # fmt: skip


def _cell(value: Any) -> Any:
    """Return a cell as JSON knows it: nothing for what is missing."""
    return finite(value) if isinstance(value, float) else value or None


def _remarks(recommended: Recommendations) -> list[tuple[str, ...]]:
    """Return what a reader must know of each context, in words."""
    said: list[list[str]] = [[] for _ in range(recommended.decisions.n_contexts)]
    texts: list[AnyArray] = [recommended.unusual.remarks] if recommended.unusual is not None else []
    texts += [recommended.adopted] if recommended.adopted is not None else []
    for column in texts:
        for t in (column != "").nonzero()[0]:
            said[t].append(str(column[t]))
    flags = dict(recommended.decisions.flags) | (
        {} if recommended.fall_back is None else {"fall_back": recommended.fall_back}
    )
    for name, marked in flags.items():
        for t in marked.nonzero()[0]:
            said[t].append(name)
    return [tuple(words) for words in said]
