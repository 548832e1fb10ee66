"""Decisions that programs ask for: one key, one answer, and all is committed before the answer leaves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, insert, select

from accordant.cases.loaders import tidiers
from accordant.certificates import Known
from accordant.certificates.radius import radius
from accordant.contexts import Contexts
from accordant.errors import AccordantError, ConflictError, DataError, MissingColumnError
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.runs import Run
from accordant.runs.sections.adoption import adoptions, with_adopted
from accordant.service.contests import refer
from accordant.service.database import Database, KeyStore
from accordant.service.deployments import Deployment, deciding
from accordant.service.publication import OpenRuns
from accordant.service.record.log import Act, append, canonical
from accordant.service.schema import decision, event, person, request
from accordant.service.secrets import Erased, Secrets, event_key, new_id, unseal
from accordant.service.together import Together

RADIUS_PRECISION = 1e-4  # of the certificate that is given with a decision
Cell = str | float | int | bool | None


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
    """What is decided already, and to be recorded.

    Attributes
    ----------
    client, key, body
        Who asks, under which key, and the hash of what is asked.
    active
        What decided.
    contexts, answers, shadow_actions
        What was known of each, what is answered, and what the silent version would have done.
    people
        A new person for each, with the key that seals what is known.
    """

    client: str
    key: str
    body: bytes
    active: Deployment
    contexts: Sequence[Mapping[str, Cell]]
    answers: Sequence[Mapping[str, Any]]
    shadow_actions: Sequence[str | None]
    people: Mapping[str, bytes]
    number: str = field(default_factory=new_id)

    @cached_property
    def decisions(self) -> list[str]:
        """Identifiers of the decisions."""
        return [new_id() for _ in self.contexts]

    @cached_property
    def acts(self) -> list[Act]:
        """What the log says of it."""
        said = self.active.public
        return [
            Act(
                "decision",
                {"decision": identifier, **said, "client": self.client, "action": answer["action"]},
                who, {"context": dict(context), "answer": answer, "shadow_action": other}, secret,
            )
            for identifier, context, answer, other, (who, secret) in zip(
                self.decisions, self.contexts, self.answers, self.shadow_actions, self.people.items(), strict=True
            )
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Decider:
    """What decides: the database, the keys of people, the secret, and the runs that were opened."""

    database: Database
    keys: KeyStore
    secrets: Secrets
    runs: OpenRuns

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
        """
        key, body = self._kept(client.id, idempotency_key), self._body(contexts, name)
        with self.database.reading() as connection:
            asked = self._asked(connection, [key]).get((client.id, key))
            if asked is not None:
                return self._again(connection, asked, body)
        question = self._question(client, key, body, contexts, name)
        if self._recording(question):
            told = [self._told(*each) for each in zip(question.decisions, question.answers, strict=True)]
            return Answer(told, question.active.run)
        with self.database.reading() as connection:  # another process was faster
            return self._again(connection, self._asked(connection, [key])[client.id, key], body)

    def _kept(self, client: str, idempotency_key: str) -> str:
        """Return what is kept of a key that a client chose, and in which there may be anything about anybody."""
        return self.secrets.fingerprint(f"{client} {idempotency_key}").hex()

    def _body(self, contexts: Sequence[Mapping[str, Cell]], name: str | None) -> bytes:
        """Return the keyed hash of a question: nobody without the secret finds it by guessing."""
        return self.secrets.fingerprint(canonical({"contexts": list(contexts), "deployment": name}).decode())

    def decide_within(
        self,
        client: Row[Any],
        idempotency_key: str,
        contexts: Sequence[Mapping[str, Cell]],
        name: str | None,
        within: Callable[[Connection], None],
    ) -> None:
        """Decide as `decide` does under a key that was not used, in one transaction with what `within` does first."""
        key = self._kept(client.id, idempotency_key)
        question = self._question(client, key, self._body(contexts, name), contexts, name)
        with self.database.writing() as connection:
            within(connection)
            self._write(connection, [question])

    def again(self, connection: Connection, client: str, idempotency_key: str) -> list[dict[str, Any] | None]:
        """Return what was answered under a key; None for somebody who was erased since, and nothing if it is unused."""
        key = self._kept(client, idempotency_key)
        asked = self._asked(connection, [key]).get((client, key))
        told: list[dict[str, Any] | None] = []
        for row in () if asked is None else self._answered(connection, asked):
            try:
                told.append(self._told(row.id, self._answer(row)))
            except Erased:
                told.append(None)
        return told

    def _question(
        self, client: Row[Any], key: str, body: bytes, contexts: Sequence[Mapping[str, Cell]], name: str | None
    ) -> Question:
        """Return contexts with what is decided about them."""
        with self.database.reading() as connection:
            active, shadow = deciding(connection, client.workspace, name)
            run = self.runs.run(connection, active.run)
            silent = None if shadow is None else self.runs.run(connection, shadow.run)
        answers = self._answering(Asked(run, active.strategy, contexts))
        if isinstance(answers, AccordantError):
            raise answers
        beside = [None] * len(contexts) if silent is None else self._shadow(silent, shadow, contexts)
        return Question(client.id, key, body, active, contexts, answers, beside, self.keys.new(len(contexts)))

    def _shadow(self, run: Run, shadow: Deployment | None, contexts: Sequence[Mapping[str, Cell]]) -> list[str | None]:
        """Return what the silent version would have done; whatever goes wrong with it is not the client's fault."""
        assert shadow is not None
        answers = self._answering(Asked(run, shadow.strategy, contexts, certified=False))
        return [None] * len(contexts) if isinstance(answers, AccordantError) else [each["action"] for each in answers]

    @cached_property
    def _answering(self) -> Together[Asked, list[dict[str, Any]] | AccordantError]:
        return Together(answered)

    def _asked(self, connection: Connection, keys: Sequence[str]) -> dict[tuple[str, str], Row[Any]]:
        """Return the questions on record under some keys, by client and key."""
        rows = connection.execute(select(request).where(request.c.idempotency_key.in_(keys)))
        return {(row.client, row.idempotency_key): row for row in rows}

    @cached_property
    def _recording(self) -> Together[Question, bool]:
        return Together(self._record)

    def _record(self, questions: Sequence[Question]) -> list[bool]:
        """Record questions in one transaction, and return for each whether it was new."""
        with self.database.writing() as connection:
            known = set(self._asked(connection, [each.key for each in questions]))
            new: list[Question] = []
            for each in questions:
                if (each.client, each.key) not in known:
                    known.add((each.client, each.key))
                    new.append(each)
            if new:
                self._write(connection, new)
        return [each in new for each in questions]

    def _write(self, connection: Connection, questions: Sequence[Question]) -> None:
        """Write questions, their people, events and decisions."""
        lines = iter(append(connection, [act for each in questions for act in each.acts]))
        requests, people, decisions = [], [], []
        for each in questions:
            for position, (identifier, answer, other) in enumerate(
                zip(each.decisions, each.answers, each.shadow_actions, strict=True)
            ):
                line = next(lines)
                people.append({"id": line.person, "created_at": line.at})
                decisions.append({
                    "id": identifier, "request": each.number, "position": position, "deployment": each.active.id,
                    "person": line.person, "at": line.at, "action": answer["action"], "shadow_action": other,
                    "seq": line.seq, "token": self.secrets.fingerprint(self.secrets.link_token(identifier)),
                    "state": "decided" if answer["action"] is not None else "referred",
                })  # fmt: skip
            requests.append({
                "id": each.number, "client": each.client, "idempotency_key": each.key, "body": each.body,
                "version": each.active.run, "at": line.at,
            })  # fmt: skip
        for table, rows in ((request, requests), (person, people), (decision, decisions)):
            connection.execute(insert(table), rows)
        refer(connection, [(each["id"], each["person"]) for each in decisions if each["state"] == "referred"])

    def _again(self, connection: Connection, asked: Row[Any], body: bytes) -> Answer:
        """Return the answer to a question that is on record; raises ConflictError if it was another question."""
        if asked.body and bytes(asked.body) != body:  # none is kept where somebody was erased since
            raise ConflictError(f"this Idempotency-Key was used for another question, at {asked.at}")
        rows = self._answered(connection, asked)
        return Answer([self._told(row.id, self._answer(row)) for row in rows], asked.version)

    def _answered(self, connection: Connection, asked: Row[Any]) -> Sequence[Row[Any]]:
        wanted = (
            select(decision.c.id, decision.c.person, event.c.id.label("event"), event.c.sealed)
            .join(event, event.c.seq == decision.c.seq)
            .where(decision.c.request == asked.id)
            .order_by(decision.c.position)
        )
        return list(connection.execute(wanted))

    def _answer(self, row: Any) -> dict[str, Any]:
        """Return what was answered, from a row with ``person``, ``event`` and ``sealed``."""
        private = json.loads(unseal(event_key(self.keys.key(row.person), row.event), bytes(row.sealed), row.event))
        answer: dict[str, Any] = private["answer"]
        return answer

    def _told(self, identifier: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        return {"id": identifier, **answer, "link": f"/my/{self.secrets.link_token(identifier)}"}


@dataclass(frozen=True, eq=False)
class Asked:
    """What a strategy is to decide: see `recommended`."""

    run: Run
    strategy: str
    contexts: Sequence[Mapping[str, Cell]]
    certified: bool = True

    @property
    def group(self) -> Hashable:
        """What others must share with it, so that nothing is decided otherwise than if it were asked alone."""
        rule = self.run.policy.strategy(self.strategy)
        if rule.draws:  # what is drawn depends on equal rows above
            return id(self)
        kinds = ((name, *sorted({type(row.get(name)).__name__ for row in self.contexts})) for name in self.contexts[0])
        return self.run.head, rule.label, self.certified, *kinds


def answered(asked: Sequence[Asked]) -> list[list[dict[str, Any]] | AccordantError]:
    """Answer many questions, those that are alike at once; what is wrong with one is its own answer.

    A row gets the same answer to the last bit, whatever is asked with it, and the work for one is nearly that for ten.
    """
    groups: dict[Hashable, list[int]] = {}
    found: dict[int, list[dict[str, Any]] | AccordantError] = {}
    for place, each in enumerate(asked):
        try:
            groups.setdefault(each.group, []).append(place)
        except AccordantError as error:
            found[place] = error
    for places in groups.values():
        first, rows = asked[places[0]], [row for place in places for row in asked[place].contexts]
        try:
            answers = iter(recommended(first.run, first.strategy, rows, certified=first.certified))
            found |= {place: list(islice(answers, len(asked[place].contexts))) for place in places}
        except AccordantError as error:
            found |= {places[0]: error} if len(places) == 1 else {
                place: answered([asked[place]])[0] for place in places
            }  # fmt: skip
    return [found[place] for place in range(len(asked))]


def recommended(
    run: Run, strategy: str, contexts: Sequence[Mapping[str, Cell]], *, certified: bool = True
) -> list[dict[str, Any]]:
    """Return what a strategy says of contexts, as `accordant recommend` would of the same rows.

    Parameters
    ----------
    run, strategy
        What decides.
    contexts
        Column to value, for each.
    certified
        Whether the radius within which no misreport changes the decision is computed.

    Raises
    ------
    DataError
        If a column is missing or unknown, or a value is not of its type.
    """
    policy = run.policy
    rows = typed_rows(run, contexts)
    batch = policy.recommend(rows, strategy=strategy)
    if strategy == policy.selected_ and (known := adoptions(run)):
        batch = with_adopted(batch, rows, policy.features_, known)
    radii: list[dict[str, Any] | None] = [None] * len(contexts)
    if certified and batch.decisions.policy is None:
        rule, known_of_rows = (
            policy.strategy(strategy),
            Known(policy.outcome_model_.predict(rows), contexts=rows),
        )
        safe = radius(rule, batch.expected, precision=RADIUS_PRECISION, known=known_of_rows)
        radii = [{"radius": finite(each), "safe_always": bool(math.isinf(each))} for each in safe]
    return [_answer(batch, t, radii[t]) for t in range(len(contexts))]


def _answer(batch: Recommendations, t: int, certificate: dict[str, Any] | None) -> dict[str, Any]:
    expected, decisions = batch.expected, batch.decisions
    remarks = [] if batch.unusual is None else [str(batch.unusual.remarks[t])]
    if batch.referred[t]:
        remarks.append("a person decides")
    elif batch.fall_back is not None and batch.fall_back[t]:
        remarks.append("the declared fall-back action is taken")
    if batch.adopted is not None:
        remarks.append(str(batch.adopted[t]))
    if decisions.tied[t]:
        remarks.append("tied: the higher sum, then the declared order decided")
    remarks += [name for name, flag in decisions.flags.items() if flag[t]]
    return {
        "action": str(decisions.actions[t]) or None,
        "expected_rewards": {
            who: {what: float(expected.values[i, a, t]) for a, what in enumerate(expected.actions)}
            for i, who in enumerate(expected.stakeholders)
        },
        "runner_up": str(batch.runner_up[t]) or None,
        "margin": finite(batch.margin[t]),
        "remarks": [remark for remark in remarks if remark],
        "certificate": certificate,
    }


def typed_rows(run: Run, contexts: Sequence[Mapping[str, Cell]]) -> Contexts:
    """Return contexts as the case of a run prepares them, each value of the type that its column has.

    Raises
    ------
    DataError
        If contexts differ in their columns, or a value is neither text, number, truth value nor null.
    MissingColumnError
        If a feature is missing.
    """
    policy, columns = run.policy, tuple(contexts[0])
    for row, context in enumerate(contexts):
        if set(context) != set(columns):
            other = min(set(columns) ^ set(context))
            raise DataError(f"context {row}: column {other!r} is not in all contexts; allowed: the same columns in all")
    frame = pd.DataFrame({name: _column(name, [row[name] for row in contexts]) for name in columns})
    tidy = tidiers.create(run.case.data.loader)(frame)
    for name in policy.features_:
        if name not in tidy.columns:
            raise MissingColumnError(name, tidy.columns, "contexts")
    return policy.contexts_of({str(name): tidy[name].to_numpy() for name in tidy.columns}, lambda row: f"context {row}")


def _column(name: str, values: Sequence[Cell]) -> pd.Series[Any]:
    """Return values as a column of numbers or texts, as a file with them would be read; null is missing."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or kinds == {bool}:
        return pd.Series(values, dtype="float64")
    if kinds != {str}:
        raise DataError(f"column {name!r} holds values of several kinds; allowed: numbers, texts or truth values")
    return pd.Series(values, dtype=object)
