"""Reading decisions back: what was sealed, why it was decided so, and which others were decided alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select

from accordant.certificates import Known
from accordant.contexts import Contexts
from accordant.explanation import Explanation, PersonExplanation
from accordant.explanation.contexts import Difference, Distances, plain
from accordant.explanation.reasons import Reason, reason
from accordant.runs import Run
from accordant.runs.sections.explanation import addressee_of, explained_contexts
from accordant.service.answers import typed_rows
from accordant.service.database import KeyStore
from accordant.service.decisions import Decider
from accordant.service.deployments import Deployment
from accordant.service.schema import decision, deployment, event, person
from accordant.service.secrets import Erased, event_key, unseal

MOST_CONSIDERED = 2_000  # decisions among which like cases are looked for, the newest first
MOST_ALIKE = 50  # that are offered at once: a person looks at each
SIMILAR = 0.5  # mean distance of the features, in interquartile ranges of training rows


@dataclass(frozen=True, eq=False)
class DecisionRead:
    """One decision with everything that was recorded about it.

    Attributes
    ----------
    row
        Of the table `decision`.
    deployed, run
        Which version decided.
    context
        Column to value.
    answer
        What the client was told.
    event
        Identifier of its event in the log.
    """

    row: Row[Any]
    deployed: Deployment
    run: Run
    context: Mapping[str, Any]
    answer: Mapping[str, Any]
    event: str

    def explained(self) -> Explanation:
        """Return why it was decided so; what was done stays as recorded, whatever a new draw would give."""
        rows = typed_rows(self.run, [self.context])
        (made,) = explained_contexts(self.run, rows, self.row.id, strategy=self.deployed.strategy).explanations
        who, action = made.person, self.row.action or ""
        if who is None or who.action == action:
            return made
        shares = made.choice.probabilities
        chance = None if shares is None or not action else float(shares[made.actions.index(action)])
        return replace(made, person=replace(who, action=action, chance=chance))

    def letter(self, language: str) -> PersonExplanation:
        """Return the explanation in plain words for the person concerned; how to object stands on the page itself."""
        made = self.explained().for_person(replace(addressee_of(self.run), source=""), language=language)
        return made.model_copy(update={"objection": ()})


@dataclass(frozen=True)
class LikeCase:
    """A decision that was taken for the same reason about a similar context.

    Attributes
    ----------
    id, at
        Of the decision.
    distance
        Mean distance of the features, see `accordant.explanation.contexts.Distances`.
    differences
        Features in which it differs: here, and there.
    """

    id: str
    at: str
    distance: float
    differences: tuple[Difference, ...]


def read_decision(decider: Decider, connection: Connection, identifier: str) -> DecisionRead | None:
    """Return a decision; None if there is none.

    Raises
    ------
    Erased
        If the person whom it is about was erased.
    """
    row = connection.execute(
        select(decision, event.c.id.label("event"), event.c.sealed)
        .join(event, event.c.seq == decision.c.seq)
        .where(decision.c.id == identifier)
    ).one_or_none()
    if row is None:
        return None
    private = _opened(decider.keys, row)
    deployed = Deployment.of(connection.execute(select(deployment).where(deployment.c.id == row.deployment)).one())
    run = decider.runs.run(connection, deployed.run)
    return DecisionRead(row, deployed, run, private["context"], private["answer"], row.event)


def decision_of_link(decider: Decider, connection: Connection, token: str) -> Row[Any] | None:
    """Return the decision of a link; None if there is none."""
    return connection.execute(
        select(decision).where(decision.c.token == decider.secrets.fingerprint(token))
    ).one_or_none()


def _opened(keys: KeyStore, row: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        unseal(event_key(keys.key(row.person), row.event), bytes(row.sealed), row.event)
    )
    return content


def like_cases(decider: Decider, connection: Connection, decided: DecisionRead) -> list[LikeCase]:
    """Return decisions of the same version with the same action for the same reason, about similar contexts.

    Only those that stand as they were decided and were not contested; the nearest first.
    """
    if decided.row.action is None:
        return []
    same = (decision.c.deployment == decided.row.deployment) & (decision.c.action == decided.row.action)
    rows = connection.execute(
        select(decision, event.c.id.label("event"), event.c.sealed)
        .join(event, event.c.seq == decision.c.seq)
        .join(person, person.c.id == decision.c.person)
        .where(same, decision.c.state == "decided", decision.c.id != decided.row.id, person.c.erased_at.is_(None))
        .order_by(-decision.c.seq)
        .limit(MOST_CONSIDERED)
    ).all()
    others = [(row, context) for row in rows if (context := _context(decider.keys, row, decided.context)) is not None]
    if not others:
        return []
    contexts = typed_rows(decided.run, [decided.context, *(context for _, context in others)])
    reasons = _reasons(decided.run, decided.deployed.strategy, contexts)
    near = _distances(decided.run, contexts)
    places = [k for k in range(1, len(reasons)) if reasons[k] == reasons[0] and near[k] <= SIMILAR]
    places.sort(key=lambda k: near[k])
    return [
        LikeCase(row.id, row.at, float(near[k]), _differences(decided.run, contexts, k))
        for k in places[:MOST_ALIKE]
        for row in (others[k - 1][0],)
    ]


def _context(keys: KeyStore, row: Any, columns: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the context of a decision that has the columns of another; None if it has others, or cannot be read."""
    try:
        context: Mapping[str, Any] = _opened(keys, row)["context"]
    except Erased:
        return None
    return context if set(context) == set(columns) else None


def _reasons(run: Run, strategy: str, contexts: Contexts) -> list[tuple[Any, ...]]:
    """Return what each decision rests on, without its numbers."""
    policy = run.policy
    rule, batch = policy.strategy(strategy), policy.recommend(contexts, strategy=strategy)
    known = Known(policy.outcome_model_.predict(contexts), contexts=contexts)
    decided = rule(batch.expected, **known.arguments(slice(None)))
    reasons = []
    for t in range(len(decided.codes)):
        one = np.array([t])
        settled = str(batch.decisions.actions[t]) == str(decided.actions[t])
        why = reason(
            rule, batch.expected.take(one), decided, t, runner_up=str(batch.runner_up[t]),
            known=Known(**known.arguments(one)),
        )  # fmt: skip
        reasons.append((settled, *_likeness(why)))
    return reasons


def _likeness(why: Reason) -> tuple[Any, ...]:
    return why.kind, why.action, why.other, sorted(why.who.items()), sorted(why.words.items())


def _distances(run: Run, contexts: Contexts) -> Any:
    """Return the distance of every context from the first, shape (context,)."""
    policy = run.policy
    distances = Distances.of(policy.contexts_of(policy.profile_.reference_rows), policy.features_)
    apart = [distances.apart(name, contexts[name][0], contexts[name]) for name in policy.features_]
    return np.mean(apart, axis=0)


def _differences(run: Run, contexts: Contexts, k: int) -> tuple[Difference, ...]:
    pairs: Sequence[tuple[str, Any, Any]] = [
        (name, plain(contexts[name][0]), plain(contexts[name][k])) for name in run.policy.features_
    ]
    return tuple(Difference(name, here, there) for name, here, there in pairs if here != there)
