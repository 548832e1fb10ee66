"""Contestation: whoever is decided about objects, and somebody who did not decide answers before a date.

What nobody decided yet (a referral) comes to people the same way, and so does what was decided like something that was
changed (a like case).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, update

from accordant.errors import ConflictError, InputError, UnknownNameError
from accordant.service.database import KeyStore
from accordant.service.identity import after
from accordant.service.record.log import Act, append, now
from accordant.service.schema import contest, decision, deployment, event, person, review
from accordant.service.secrets import event_key, new_id, unseal

DAYS_TO_ANSWER = 30
LONGEST_GROUNDS = 10_000  # characters
Kind = Literal["contest", "referral", "like_case"]
Result = Literal["upheld", "changed", "remitted"]
RESULTS: tuple[Result, ...] = ("upheld", "changed", "remitted")


@dataclass(frozen=True)
class Contestation:
    """The records of contests, with the keys that open what people wrote.

    Attributes
    ----------
    keys
        Of people.
    """

    keys: KeyStore

    def contest(self, connection: Connection, decided: Row[Any], grounds: str) -> str:
        """Record that a person contests a decision, and return the identifier of the contest.

        Raises
        ------
        InputError
            If no grounds are given, or too many.
        ConflictError
            If the decision cannot be contested as it stands.
        """
        grounds = _text(grounds, "grounds")
        turned = connection.execute(
            update(decision).where(decision.c.id == decided.id, decision.c.state == "decided").values(state="contested")
        ).rowcount
        if turned != 1:
            raise ConflictError("this decision was contested already")
        (identifier,) = self._begin(connection, "contest", [(decided.id, decided.person)], {"grounds": grounds})
        return identifier

    def answer(
        self, connection: Connection, reviewer: str, identifier: str, result: str, reasons: str, action: str | None
    ) -> None:
        """Record what a reviewer answers to a contest.

        Parameters
        ----------
        connection
            From `Database.writing`.
        reviewer
            Who answers; never one who decided here before.
        identifier
            Of the contest.
        result
            ``upheld``, ``changed`` (then with the new action) or ``remitted``: to be decided anew.
        reasons
            For the person concerned.
        action
            Name of the action that is taken instead.

        Raises
        ------
        UnknownNameError
            If there is no such contest.
        InputError
            If there are no reasons, or the action does not fit the result.
        ConflictError
            If it was answered, or the reviewer decided here before.
        """
        row = self._open_row(connection, identifier)
        if result not in RESULTS:
            raise UnknownNameError("result", result, RESULTS)
        reasons = _text(reasons, "reasons")
        if row.kind == "referral" and result != "changed":
            raise InputError("nobody decided here yet; allowed: the result changed, with an action")
        if (result == "changed") != (action is not None):
            raise InputError("action is given where a decision is changed, and only there")
        if row.kind != "referral" and action is not None and action == in_force(connection, row.decision):
            raise InputError(f"action is {action!r}, as it was; allowed: another one, or the result upheld")
        self._close(connection, row, reviewer, result, reasons, action)

    def decide_alike(
        self, connection: Connection, reviewer: str, origin: str, alike: Sequence[str], reasons: str
    ) -> int:
        """Change decisions as one that is like them was changed, and return how many there were.

        Parameters
        ----------
        connection
            From `Database.writing`.
        reviewer
            Who decides; never one who decided there before.
        origin
            Identifier of the contest, or referral, that was answered with a change.
        alike
            Identifiers of decisions by the same version that nobody contested.
        reasons
            For the persons concerned.

        Raises
        ------
        InputError
            If there are no reasons, or a decision is none of these.
        ConflictError
            If the contest was not answered with a change, or the reviewer decided there before.
        """
        reasons = _text(reasons, "reasons")
        if not alike:
            raise InputError("no like case is chosen")
        changed = connection.execute(
            select(review.c.action, decision.c.deployment)
            .join(contest, contest.c.id == review.c.contest)
            .join(decision, decision.c.id == contest.c.decision)
            .where(contest.c.id == origin, review.c.result == "changed")
        ).one_or_none()
        if changed is None:
            raise ConflictError("only a change can be extended to like cases")
        for identifier in dict.fromkeys(alike):
            here = (decision.c.id == identifier) & (decision.c.deployment == changed.deployment)
            other = connection.execute(select(decision).where(here, decision.c.state == "decided")).one_or_none()
            if other is None:
                raise InputError("a like case is not by the same version, or is being reviewed already")
            if in_force(connection, identifier) == changed.action:
                raise InputError(f"a like case is decided {changed.action!r} already")
            (made,) = self._begin(connection, "like_case", [(identifier, other.person)], None, like=origin)
            row = self._open_row(connection, made)
            self._close(connection, row, reviewer, "changed", reasons, changed.action)
        return len(set(alike))

    def _begin(
        self, connection: Connection, kind: Kind, decided: Sequence[tuple[str, str]],
        private: dict[str, Any] | None = None, **public: str,
    ) -> list[str]:  # fmt: skip
        """Record that decisions, each with its person, are to be answered."""
        return _begin(
            connection, kind, decided, private, None if private is None else self.keys.key(decided[0][1]), **public
        )

    def _open_row(self, connection: Connection, identifier: str) -> Row[Any]:
        row: Row[Any] | None = connection.execute(
            select(contest, decision.c.person, decision.c.state.label("standing"))
            .join(decision, decision.c.id == contest.c.decision)
            .where(contest.c.id == identifier)
        ).one_or_none()
        if row is None:
            raise UnknownNameError("contest", identifier, ())
        return row

    def _close(
        self, connection: Connection, row: Row[Any], reviewer: str, result: str, reasons: str, action: str | None
    ) -> None:
        """Write an answer down, and what becomes of the decision."""
        if decided_here(connection, reviewer, row.decision):
            raise ConflictError("whoever decided here cannot answer a contest of it")
        turned = connection.execute(
            update(contest).where(contest.c.id == row.id, contest.c.state == "open").values(state=result)
        ).rowcount
        if turned != 1:
            raise ConflictError("this contest was answered already")
        state = "referred" if result == "remitted" else result if row.kind == "contest" else "decided"
        connection.execute(update(decision).where(decision.c.id == row.decision).values(state=state))
        public = {
            "contest": row.id, "decision": row.decision, "reviewer": reviewer, "result": result, "action": action,
        }  # fmt: skip
        (line,) = append(
            connection, [Act("review", public, row.person, {"reasons": reasons}, self.keys.key(row.person))]
        )
        connection.execute(
            insert(review).values(
                id=new_id(), contest=row.id, reviewer=reviewer, at=line.at, result=result, action=action, seq=line.seq
            )
        )
        if result == "remitted":
            refer(connection, [(row.decision, row.person)])

    def told(self, connection: Connection, seq: int, person: str) -> dict[str, Any]:
        """Return the private part of an event about a person; raises Erased if the key is gone."""
        row = connection.execute(select(event.c.id, event.c.sealed).where(event.c.seq == seq)).one()
        content = unseal(event_key(self.keys.key(person), row.id), bytes(row.sealed), row.id)
        private: dict[str, Any] = json.loads(content)
        return private


def refer(connection: Connection, decided: Sequence[tuple[str, str]]) -> None:
    """Let people decide what nobody did: pairs of a decision and the person whom it is about."""
    if decided:
        _begin(connection, "referral", decided)


def _begin(
    connection: Connection, kind: Kind, decided: Sequence[tuple[str, str]], private: dict[str, Any] | None = None,
    key: bytes | None = None, **public: str,
) -> list[str]:  # fmt: skip
    due, identifiers = after(days=DAYS_TO_ANSWER), [new_id() for _ in decided]
    lines = append(
        connection,
        [
            Act(kind, {"contest": identifier, "decision": what, "due": due, **public}, who, private, key)
            for identifier, (what, who) in zip(identifiers, decided, strict=True)
        ],
    )
    connection.execute(
        insert(contest),
        [
            {
                "id": identifier, "decision": what, "kind": kind, "at": line.at, "due_at": due, "state": "open",
                "seq": line.seq,
            }
            for identifier, (what, _), line in zip(identifiers, decided, lines, strict=True)
        ],
    )  # fmt: skip
    return identifiers


def in_force(connection: Connection, decided: str) -> str | None:
    """Return the action that stands: of the last review that gave one, else as it was decided; None for none yet."""
    answers = history(connection, decided)
    given = [row.action for row in answers if row.action is not None]
    if given:
        return str(given[-1])
    action = connection.execute(select(decision.c.action).where(decision.c.id == decided)).scalar_one()
    return None if action is None else str(action)


def history(connection: Connection, decided: str) -> Sequence[Row[Any]]:
    """Return what was asked about a decision and what was answered, in that order; answers are None while open."""
    return connection.execute(
        select(
            contest, review.c.reviewer, review.c.at.label("answered_at"), review.c.result, review.c.action,
            review.c.seq.label("answered_seq"),
        )
        .outerjoin(review, review.c.contest == contest.c.id)
        .where(contest.c.decision == decided)
        .order_by(contest.c.seq)
    ).all()  # fmt: skip


def decided_here(connection: Connection, reviewer: str, decided: str) -> bool:
    """Return whether somebody answered earlier about a decision."""
    return any(row.reviewer == reviewer for row in history(connection, decided))


def open_contests(
    connection: Connection, workspace: str | None = None, *, overdue: bool = False, most: int | None = None
) -> Sequence[Row[Any]]:
    """Return what nobody answered yet, what is due first in front.

    Parameters
    ----------
    connection
        Any.
    workspace
        Where; None for all.
    overdue
        Whether only what is late is wanted.
    most
        How many; None for all. Of people who were erased there is nothing to answer.
    """
    wanted = (
        select(
            contest, decision.c.action, decision.c.deployment, decision.c.person, deployment.c.name,
            deployment.c.version,
        )
        .join(decision, decision.c.id == contest.c.decision)
        .join(deployment, deployment.c.id == decision.c.deployment)
        .join(person, person.c.id == decision.c.person)
        .where(contest.c.state == "open", person.c.erased_at.is_(None))
        .order_by(contest.c.due_at, contest.c.seq)
        .limit(most)
    )  # fmt: skip
    if workspace is not None:
        wanted = wanted.where(deployment.c.workspace == workspace)
    return connection.execute(wanted.where(contest.c.due_at < now()) if overdue else wanted).all()


def _text(given: str, what: str) -> str:
    text = given.strip()
    if not text:
        raise InputError(f"{what} are empty; allowed: a text")
    if len(text) > LONGEST_GROUNDS:
        raise InputError(f"{what} have {len(text):,} characters; allowed: at most {LONGEST_GROUNDS:,}")
    return text
