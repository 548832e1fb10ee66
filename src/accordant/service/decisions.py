"""Decisions that programs ask for: one key, one answer, and all is committed before the answer leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from sqlalchemy import Connection, Row, bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from accordant.errors import AccordantError, ConflictError
from accordant.service.answers import Answers, Asked, Cell, answered
from accordant.service.clients import RevokedError, live_clients
from accordant.service.contests import refer
from accordant.service.database import Database, KeyStore
from accordant.service.deployments import Deployment, deciding
from accordant.service.publication import OpenRuns
from accordant.service.record.log import Act, append, canonical
from accordant.service.schema import decision, deployment, event, person, request
from accordant.service.secrets import Erased, Secrets, event_key, new_id, unseal
from accordant.service.together import Together

# what every question needs is built once: building takes four times as long as carrying it out
ASKED = select(request).where(request.c.idempotency_key.in_(bindparam("keys", expanding=True)))
INSERTS = {table: insert(table) for table in (request, person, decision)}
Placed = tuple[Deployment, Asked, Asked | None]
"""What decides a question, and what is asked of it and of the version that decides silently."""


@dataclass(frozen=True)
class Answer:
    """What a client is told.

    Attributes
    ----------
    decisions
        One object a context, see `docs/reference/service.md`.
    version
        Hash of the run that decided.
    """

    decisions: list[dict[str, Any]]
    version: str

    def to_json(self) -> bytes:
        """Return it as JSON, the same bytes for the same answer."""
        return canonical({"decisions": self.decisions, "version": self.version})


@dataclass(frozen=True, eq=False)
class Question:
    """What a client asks.

    Attributes
    ----------
    client, workspace
        Who asks, and where.
    key, body
        Keyed hashes of the Idempotency-Key and of what is asked.
    contexts
        Column to value, for each.
    name
        Of the deployment; None if there is only one.
    """

    client: str
    workspace: str
    key: str
    body: bytes
    contexts: Sequence[Mapping[str, Cell]]
    name: str | None


@dataclass(frozen=True, eq=False)
class Decided:
    """What is decided, and to be recorded.

    Attributes
    ----------
    question
        What was asked.
    active
        What decided.
    answers, shadow_actions
        What is answered on each context, and what the silent version would have done.
    people
        A new person for each, with the key that seals what is known.
    """

    question: Question
    active: Deployment
    answers: Sequence[Mapping[str, Any]]
    shadow_actions: Sequence[str | None]
    people: Mapping[str, bytes]
    number: str = field(default_factory=new_id)

    @cached_property
    def decisions(self) -> list[str]:
        """Identifiers of the decisions."""
        return [new_id() for _ in self.answers]

    @cached_property
    def acts(self) -> list[Act]:
        """What the log says of it."""
        said = {**self.active.public, "client": self.question.client}
        return [
            Act(
                "decision", {"decision": identifier, **said, "action": answer["action"]}, who,
                {"context": dict(context), "answer": answer, "shadow_action": other}, secret,
            )
            for identifier, context, answer, other, (who, secret) in zip(
                self.decisions, self.question.contexts, self.answers, self.shadow_actions, self.people.items(),
                strict=True,
            )
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Decider:
    """What decides: the database, the keys of people, the secret, and the runs that were opened."""

    database: Database
    keys: KeyStore
    secrets: Secrets
    runs: OpenRuns

    def warm_up(self) -> None:
        """Open every run that decides, and decide once, so that nobody waits for what is loaded at first use."""
        with self.database.reading() as connection:
            live = connection.execute(
                select(deployment.c.run, deployment.c.strategy).where(deployment.c.state != "retired")
            )
            for row in live.all():
                policy = self.runs.run(connection, row.run).policy
                policy.recommend(policy.profile_.reference_rows.take(slice(0, 1)), strategy=row.strategy)

    def decide(
        self,
        client: Row[Any],
        idempotency_key: str,
        contexts: Sequence[Mapping[str, Cell]],
        name: str | None = None,
    ) -> Answer:
        """Decide about contexts, record it, and return the answer; a key that was used gives its answer again.

        Parameters
        ----------
        client
            Row of who asks.
        idempotency_key
            Chosen by the client, a new one for each new question.
        contexts
            Column to value, for each.
        name
            Of the deployment; None if there is only one.

        Raises
        ------
        ConflictError
            If the key was used for another question.
        DataError
            If a column is missing or unknown, or a value is not of its type.
        Erased
            If somebody of the earlier answer was erased since.
        RevokedError
            If the client was revoked.
        """
        answer = self._together(self._question(client, idempotency_key, contexts, name))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _kept(self, client: str, idempotency_key: str) -> str:
        """Return what is kept of a key that a client chose, and in which there may be anything about anybody."""
        return self.secrets.fingerprint(f"{client} {idempotency_key}").hex()

    def _question(
        self, client: Row[Any], idempotency_key: str, contexts: Sequence[Mapping[str, Cell]], name: str | None
    ) -> Question:
        """Return a question with keyed hashes of what identifies it: nobody without the secret finds it by guessing."""
        body = self.secrets.fingerprint(canonical({"contexts": list(contexts), "deployment": name}).decode())
        return Question(client.id, client.workspace, self._kept(client.id, idempotency_key), body, contexts, name)

    def decide_within(
        self,
        client: Row[Any],
        idempotency_key: str,
        contexts: Sequence[Mapping[str, Cell]],
        name: str | None,
        within: Callable[[Connection], None],
    ) -> None:
        """Decide as `decide` does under a key that was not used, in one transaction with what `within` does first."""
        question = self._question(client, idempotency_key, contexts, name)
        with self.database.reading() as connection:
            placed = {question: self._placed(connection, question)}
        failed: dict[Question, Answer | Exception] = {}
        told = self._decided(placed, failed)
        if failed:
            raise cast("Exception", failed[question])
        with self.database.writing() as connection:
            within(connection)
            self._write(connection, told)

    def again(self, connection: Connection, client: str, idempotency_key: str) -> list[dict[str, Any] | None]:
        """Return what was answered under a key; None for somebody who was erased since, and nothing if it is unused."""
        kept = self._kept(client, idempotency_key)
        row = connection.execute(
            select(request).where(request.c.client == client, request.c.idempotency_key == kept)
        ).one_or_none()
        return [] if row is None else self._answered(connection, row)

    @cached_property
    def _together(self) -> Together[Question, Answer | Exception]:
        return Together(self._answers, lambda question: len(question.contexts))

    def _answers(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Answer questions that wait at the same time; what is wrong with one is its own answer."""
        answers: dict[Question, Answer | Exception] = {}
        placed: dict[Question, Placed] = {}
        with self.database.reading() as connection:
            known, live = self._asked(connection, questions), live_clients(connection, {e.client for e in questions})
            for question in questions:
                try:
                    if question.client not in live:
                        answers[question] = RevokedError(question.client)
                    elif (asked := known.get((question.client, question.key))) is not None:
                        answers[question] = self._again(connection, asked, question)
                    else:
                        placed[question] = self._placed(connection, question)
                except (AccordantError, Erased) as error:
                    answers[question] = error
        told = self._decided(placed, answers)
        new = self._record(told)
        late = []
        for decided, is_new in zip(told, new, strict=True):
            if is_new:
                pairs = zip(decided.decisions, decided.answers, strict=True)
                answers[decided.question] = Answer([self._told(*pair) for pair in pairs], decided.active.run)
            else:  # another process was faster, or the same key came twice at once
                late.append(decided.question)
        if late:
            with self.database.reading() as connection:
                known = self._asked(connection, late)
                for question in late:
                    try:
                        answers[question] = self._again(connection, known[question.client, question.key], question)
                    except (AccordantError, Erased) as error:
                        answers[question] = error
        return [answers[question] for question in questions]

    def _placed(self, connection: Connection, question: Question) -> Placed:
        """Return what decides a question, and what is asked of it and of the version that decides silently."""
        active, shadow = deciding(connection, question.workspace, question.name)
        asked = Asked(self.runs.run(connection, active.run), active.strategy, question.contexts)
        if shadow is None:
            return active, asked, None
        run = self.runs.run(connection, shadow.run)
        return active, asked, Asked(run, shadow.strategy, question.contexts, certified=False)

    def _decided(
        self, placed: Mapping[Question, Placed], errors: dict[Question, Answer | Exception]
    ) -> list[Decided]:  # fmt: skip
        """Return what is decided of questions; what cannot be is put into `errors`.

        Whatever goes wrong with the silent version is not the client's fault.
        """
        answers = answered([asked for _, asked, _ in placed.values()])
        beside = iter(answered([silent for _, _, silent in placed.values() if silent is not None]))
        told = []
        for (question, (active, _, silent)), answer in zip(placed.items(), answers, strict=True):
            shadow = None if silent is None else next(beside)
            if isinstance(answer, Exception):
                errors[question] = answer
                continue
            quiet = shadow is None or isinstance(shadow, Exception)
            actions = [None if quiet else choice["action"] for choice in (answer if quiet else cast("Answers", shadow))]
            told.append(Decided(question, active, answer, actions, self.keys.new(len(answer))))
        return told

    def _asked(self, connection: Connection, questions: Sequence[Question]) -> dict[tuple[str, str], Row[Any]]:
        """Return those on record under the keys of some questions, by client and key."""
        rows = connection.execute(ASKED, {"keys": [question.key for question in questions]})
        return {(row.client, row.idempotency_key): row for row in rows}

    def _record(self, told: Sequence[Decided]) -> list[bool]:
        """Record decisions in one transaction, and return for each question whether it was new."""
        if not told:
            return []
        try:
            return self._write_new(told, look=False)
        except IntegrityError:  # another process was asked under the same key: too rare to look each time
            return self._write_new(told, look=True)

    def _write_new(self, told: Sequence[Decided], *, look: bool) -> list[bool]:
        """Write decisions on questions that are new among these and, where somebody looks, on record; see `_record`."""
        with self.database.writing() as connection:
            known = set(self._asked(connection, [decided.question for decided in told])) if look else set()
            new: list[Decided] = []
            for decided in told:
                if (name := (decided.question.client, decided.question.key)) not in known:
                    known.add(name)
                    new.append(decided)
            if new:
                self._write(connection, new)
        return [decided in new for decided in told]

    def _write(self, connection: Connection, told: Sequence[Decided]) -> None:
        """Write questions, their people, events and decisions."""
        lines = iter(append(connection, [act for decided in told for act in decided.acts]))
        requests, people, decisions = [], [], []
        for decided in told:
            for position, (identifier, answer, other) in enumerate(
                zip(decided.decisions, decided.answers, decided.shadow_actions, strict=True)
            ):
                line = next(lines)
                people.append({"id": line.person, "created_at": line.at})
                decisions.append({
                    "id": identifier, "request": decided.number, "position": position, "deployment": decided.active.id,
                    "person": line.person, "at": line.at, "action": answer["action"], "shadow_action": other,
                    "seq": line.seq, "token": self.secrets.fingerprint(self.secrets.link_token(identifier)),
                    "state": "decided" if answer["action"] is not None else "referred",
                })  # fmt: skip
            requests.append({
                "id": decided.number, "client": decided.question.client, "idempotency_key": decided.question.key,
                "body": decided.question.body, "version": decided.active.run, "at": line.at,
            })  # fmt: skip
        for table, rows in ((request, requests), (person, people), (decision, decisions)):
            connection.execute(INSERTS[table], rows)
        refer(connection, [(row["id"], row["person"]) for row in decisions if row["state"] == "referred"])

    def _again(self, connection: Connection, asked: Row[Any], question: Question) -> Answer:
        """Return the answer to a question that is on record; raises ConflictError if it was another question."""
        if asked.body and bytes(asked.body) != question.body:  # none is kept where somebody was erased since
            raise ConflictError(f"this Idempotency-Key was used for another question, at {asked.at}")
        told = self._answered(connection, asked)
        if None in told:
            raise Erased(asked.id)
        return Answer([answer for answer in told if answer is not None], asked.version)

    def _answered(self, connection: Connection, asked: Row[Any]) -> list[dict[str, Any] | None]:
        """Return what was told then, in its order; None for somebody who was erased since."""
        wanted = (
            select(decision.c.id, decision.c.person, event.c.id.label("event"), event.c.sealed)
            .join(event, event.c.seq == decision.c.seq)
            .where(decision.c.request == asked.id)
            .order_by(decision.c.position)
        )
        rows = list(connection.execute(wanted))
        keys = self.keys.keys({row.person for row in rows})
        return [
            self._told(row.id, _unsealed(row, keys[row.person])["answer"]) if row.person in keys else None
            for row in rows
        ]

    def _told(self, identifier: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        return {"id": identifier, **answer, "link": f"/my/{self.secrets.link_token(identifier)}"}


def _unsealed(row: Any, key: bytes) -> dict[str, Any]:
    """Return the private part of a row with ``event`` and ``sealed``."""
    private: dict[str, Any] = json.loads(unseal(event_key(key, row.event), bytes(row.sealed), row.event))
    return private
