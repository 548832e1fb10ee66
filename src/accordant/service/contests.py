"""Contestation: whoever is decided about objects, and somebody who did not decide answers before a date."""

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
from accordant.service.schema import contest, decision, event, review
from accordant.service.secrets import event_key, new_id, unseal

DAYS_TO_ANSWER = 30
LONGEST_GROUNDS = 10_000  # characters
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

    def open(self, connection: Connection, decided: Row[Any], grounds: str) -> str:
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
        identifier, due = new_id(), after(days=DAYS_TO_ANSWER)
        act = Act(
            "contest", {"contest": identifier, "decision": decided.id, "due": due}, decided.person,
            {"grounds": grounds}, self.keys.key(decided.person),
        )  # fmt: skip
        (line,) = append(connection, [act])
        connection.execute(
            insert(contest).values(
                id=identifier, decision=decided.id, at=line.at, due_at=due, state="open", seq=line.seq
            )
        )
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
        row = connection.execute(
            select(contest, decision.c.person, decision.c.action.label("decided"))
            .join(decision, decision.c.id == contest.c.decision)
            .where(contest.c.id == identifier)
        ).one_or_none()
        if row is None:
            raise UnknownNameError("contest", identifier, ())
        if result not in RESULTS:
            raise UnknownNameError("result", result, RESULTS)
        reasons = _text(reasons, "reasons")
        if (result == "changed") != (action is not None):
            raise InputError("action is given where a decision is changed, and only there")
        if action is not None and action == row.decided:
            raise InputError(f"action is {action!r}, as it was; allowed: another one, or the result upheld")
        if self._decided_here(connection, reviewer, row.decision):
            raise ConflictError("whoever decided here cannot answer a contest of it")
        turned = connection.execute(
            update(contest).where(contest.c.id == identifier, contest.c.state == "open").values(state=result)
        ).rowcount
        if turned != 1:
            raise ConflictError("this contest was answered already")
        state = {"upheld": "upheld", "changed": "changed", "remitted": "referred"}[result]
        connection.execute(update(decision).where(decision.c.id == row.decision).values(state=state))
        public = {
            "contest": identifier, "decision": row.decision, "reviewer": reviewer, "result": result, "action": action,
        }  # fmt: skip
        (line,) = append(
            connection, [Act("review", public, row.person, {"reasons": reasons}, self.keys.key(row.person))]
        )
        connection.execute(
            insert(review).values(
                id=new_id(), contest=identifier, reviewer=reviewer, at=line.at, result=result, action=action,
                seq=line.seq,
            )
        )  # fmt: skip

    def _decided_here(self, connection: Connection, reviewer: str, decided: str) -> bool:
        """Whether somebody answered an earlier contest of this decision."""
        earlier = (
            select(review.c.id)
            .join(contest, contest.c.id == review.c.contest)
            .where(contest.c.decision == decided, review.c.reviewer == reviewer)
            .limit(1)
        )
        return connection.execute(earlier).one_or_none() is not None

    def told(self, connection: Connection, seq: int, person: str) -> dict[str, Any]:
        """Return the private part of an event about a person; raises Erased if the key is gone."""
        row = connection.execute(select(event.c.id, event.c.sealed).where(event.c.seq == seq)).one()
        content = unseal(event_key(self.keys.key(person), row.id), bytes(row.sealed), row.id)
        found: dict[str, Any] = json.loads(content)
        return found


def open_contests(connection: Connection, *, overdue: bool = False) -> Sequence[Row[Any]]:
    """Return the contests that nobody answered, those that are due first in front; `overdue`: only late ones."""
    wanted = (
        select(contest, decision.c.action, decision.c.deployment)
        .join(decision, decision.c.id == contest.c.decision)
        .where(contest.c.state == "open")
        .order_by(contest.c.due_at)
    )
    return connection.execute(wanted.where(contest.c.due_at < now()) if overdue else wanted).all()


def _text(given: str, what: str) -> str:
    text = given.strip()
    if not text:
        raise InputError(f"{what} are empty; allowed: a text")
    if len(text) > LONGEST_GROUNDS:
        raise InputError(f"{what} have {len(text):,} characters; allowed: at most {LONGEST_GROUNDS:,}")
    return text
