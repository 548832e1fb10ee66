"""Decisions that programs ask for: one key, one answer, and all is committed before the answer leaves."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, insert, select

from accordant.cases.loaders import tidiers
from accordant.certificates import Known
from accordant.certificates.radius import radius
from accordant.contexts import Contexts
from accordant.errors import ConflictError, DataError, MissingColumnError
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
from accordant.service.secrets import Secrets, event_key, new_id, unseal

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
        body = hashlib.sha256(canonical({"contexts": list(contexts), "deployment": name})).digest()
        with self.database.reading() as connection:
            if (asked := self._asked(connection, client.id, idempotency_key, body)) is not None:
                return self._again(connection, asked)
            active, shadow = deciding(connection, client.workspace, name)
            run = self.runs.run(connection, active.run)
            silent = None if shadow is None else self.runs.run(connection, shadow.run)
        answers = recommended(run, active, contexts)
        beside = [None] * len(answers) if silent is None else self._shadow(silent, shadow, contexts)
        people = self.keys.new(len(contexts))
        with self.database.writing() as connection:
            if (asked := self._asked(connection, client.id, idempotency_key, body)) is not None:
                return self._again(connection, asked)  # another process was faster
            self._record(connection, client, idempotency_key, body, active, contexts, answers, beside, people)
            asked = self._asked(connection, client.id, idempotency_key, body)
            assert asked is not None
            return self._again(connection, asked, people)

    def _shadow(self, run: Run, shadow: Deployment | None, contexts: Sequence[Mapping[str, Cell]]) -> list[str | None]:
        """Return what the silent version would have done; whatever goes wrong with it is not the client's fault."""
        assert shadow is not None
        try:
            return [each["action"] for each in recommended(run, shadow, contexts, certified=False)]
        except DataError:
            return [None] * len(contexts)

    def _asked(self, connection: Connection, client: str, key: str, body: bytes) -> Row[Any] | None:
        row = connection.execute(
            select(request).where(request.c.client == client, request.c.idempotency_key == key)
        ).one_or_none()
        if row is not None and bytes(row.body) != body:
            raise ConflictError(f"Idempotency-Key {key!r} was used for another question at {row.at}")
        return row

    def _record(
        self, connection: Connection, client: Row[Any], key: str, body: bytes, active: Deployment,
        contexts: Sequence[Mapping[str, Cell]], answers: Sequence[Mapping[str, Any]], beside: Sequence[str | None],
        people: Mapping[str, bytes],
    ) -> None:  # fmt: skip
        """Write the question, its people, events and decisions."""
        number, identifiers = new_id(), [new_id() for _ in contexts]
        acts = [
            Act(
                "decision",
                {"decision": identifier, **active.public, "client": client.id, "action": answer["action"]},
                who, {"context": dict(context), "answer": answer, "shadow_action": other}, secret,
            )
            for identifier, context, answer, other, (who, secret) in zip(
                identifiers, contexts, answers, beside, people.items(), strict=True
            )
        ]  # fmt: skip
        lines = append(connection, acts)
        at = lines[0].at
        connection.execute(
            insert(request).values(
                id=number, client=client.id, idempotency_key=key, body=body, version=active.run, at=at
            )
        )
        connection.execute(insert(person), [{"id": who, "created_at": at} for who in people])
        connection.execute(
            insert(decision),
            [
                {
                    "id": identifier, "request": number, "position": position, "deployment": active.id,
                    "person": line.person, "at": at, "action": answer["action"], "shadow_action": other,
                    "seq": line.seq, "token": self.secrets.fingerprint(self.secrets.link_token(identifier)),
                    "state": "decided" if answer["action"] is not None else "referred",
                }
                for position, (identifier, line, answer, other) in enumerate(
                    zip(identifiers, lines, answers, beside, strict=True)
                )
            ],
        )  # fmt: skip
        left = [
            (identifier, str(line.person))
            for identifier, line, answer in zip(identifiers, lines, answers, strict=True)
            if answer["action"] is None
        ]
        refer(connection, left)

    def _again(self, connection: Connection, asked: Row[Any], keys: Mapping[str, bytes] | None = None) -> Answer:
        """Return the answer to a question that is on record."""
        rows = connection.execute(
            select(decision.c.id, decision.c.person, event.c.id.label("event"), event.c.sealed)
            .join(event, event.c.seq == decision.c.seq)
            .where(decision.c.request == asked.id)
            .order_by(decision.c.position)
        ).all()
        return Answer([self._told(row, keys) for row in rows], asked.version)

    def _told(self, row: Any, keys: Mapping[str, bytes] | None) -> dict[str, Any]:
        key = keys[row.person] if keys is not None and row.person in keys else self.keys.key(row.person)
        private = json.loads(unseal(event_key(key, row.event), bytes(row.sealed), row.event))
        return {"id": row.id, **private["answer"], "link": f"/my/{self.secrets.link_token(row.id)}"}


def recommended(
    run: Run, deployed: Deployment, contexts: Sequence[Mapping[str, Cell]], *, certified: bool = True
) -> list[dict[str, Any]]:
    """Return what a deployed strategy says of contexts, as `accordant recommend` would of the same rows.

    Parameters
    ----------
    run, deployed
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
    batch = policy.recommend(rows, strategy=deployed.strategy)
    if deployed.strategy == policy.selected_ and (known := adoptions(run)):
        batch = with_adopted(batch, rows, policy.features_, known)
    radii: list[dict[str, Any] | None] = [None] * len(contexts)
    if certified and batch.decisions.policy is None:
        rule, known_of_rows = (
            policy.strategy(deployed.strategy),
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
