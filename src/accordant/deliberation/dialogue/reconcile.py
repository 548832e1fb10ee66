"""`reconcile`: one dialogue from two knowledge bases and two policies, and what it came to.

[ours] What it came to, with F the premises, rules and conclusion of the explainer's arguments for the decision, all
taken from its base before the dialogue:

    understanding   U = |what the explainee knows of F| / |F|. It knows a literal that follows from its base, or from
                    K' without deriving what it denies, and a rule that stands in K'. K' = its base, what it conceded,
                    and the premises of the explainer that it never attacked. Before the dialogue K' is its base.
    topic           the atoms of the decision and of all that was said, and those from which rules lead to them;
                    a base restricted to the topic keeps the formulas whose head is in it
    symmetry        min / max of the numbers of formulas that the two bases gained or lost; 0 if only one side changed,
                    None if neither did
    reconciled      both sides changed; the restricted bases are consistent together, and not the same
    capitulation    one side changed, the other did not
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from typing import Literal as OneOf

from accordant.deliberation.dialogue.arguments import LIMIT
from accordant.deliberation.dialogue.knowledge import Formula, KnowledgeBase, Literal, closure, in_order, is_consistent
from accordant.deliberation.dialogue.locutions import legal_moves, play, skip
from accordant.deliberation.dialogue.policies import Policy, policy_named
from accordant.deliberation.dialogue.state import Ending, Setting, Speaker, State
from accordant.errors import InputError
from accordant.json_values import field_values

Status = OneOf["understood", "reconciled", "capitulation", "agree_to_disagree", "exhausted", "truncated"]


@dataclass(frozen=True)
class Understanding:
    """What the explainee knows of the reasons for a decision.

    Attributes
    ----------
    known, missing
        Formulas of F as text, in text order.
    """

    known: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def value(self) -> float:
        """U in [0, 1]."""
        return len(self.known) / (len(self.known) + len(self.missing))

    def to_json(self) -> dict[str, Any]:
        """Return the value and the formulas."""
        return {"value": self.value} | field_values(self)


def understanding(state: State) -> Understanding:
    """Return what the explainee knows of the reasons for the decision, at some point of a dialogue."""
    setting = state.setting
    reasons = {
        reason
        for argument in setting.by_conclusion[setting.decision]
        if argument.held <= setting.explainer.held
        for reason in argument.said
    }
    known = state.understood | state.understanding_base
    return Understanding(
        tuple(str(reason) for reason in in_order(reasons) if reason in known),
        tuple(str(reason) for reason in in_order(reasons) if reason not in known),
    )


@dataclass(frozen=True, eq=False)
class Dialogue:
    """A finished dialogue.

    Attributes
    ----------
    state
        The last one, with all moves.
    policies
        Names of the explainer's and the explainee's policy.
    seed
        Of random policies.
    before, after
        What the explainee knew and knows of the reasons.
    """

    state: State
    policies: tuple[str, str]
    seed: int
    before: Understanding
    after: Understanding

    @property
    def ending(self) -> Ending:
        """How the dialogue ended."""
        assert self.state.ending is not None
        return self.state.ending

    @property
    def outcomes(self) -> tuple[Status, ...]:
        """How the dialogue ended, then ``reconciled`` or ``capitulation`` if the bases say so."""
        if self.reconciled:
            return self.ending, "reconciled"
        return (self.ending, "capitulation") if self.capitulation else (self.ending,)

    @property
    def status(self) -> Status:
        """One word: how it ended; after understanding, ``reconciled`` or ``capitulation`` if the bases say so."""
        return self.outcomes[-1] if self.ending == "understood" else self.ending

    @property
    def reconciled(self) -> bool:
        """Whether both sides changed, and what they hold on the topic is consistent together but not the same."""
        one, other = self.on_topic
        both = all(self.changes.values())
        return both and set(one) != set(other) and is_consistent(in_order((*one, *other)))

    @property
    def capitulation(self) -> bool:
        """Whether one side changed and the other did not."""
        return sorted(map(bool, self.changes.values())) == [False, True]

    @property
    def decision_holds(self) -> bool:
        """Whether the explainer's base still derives the decision."""
        return self.state.setting.decision in self.state.sides["explainer"].base.closure

    @cached_property
    def changes(self) -> dict[Speaker, int]:
        """Number of formulas that each base gained or lost."""
        bases = self._bases
        return {speaker: len(first.held ^ last.held) for speaker, (first, last) in bases.items()}

    @property
    def symmetry(self) -> float | None:
        """Changes of whoever changed less, over those of the other, in [0, 1]; None if nobody did."""
        most = max(self.changes.values())
        return min(self.changes.values()) / most if most else None

    @cached_property
    def topic(self) -> frozenset[str]:
        """Atoms of the decision and of what was said, and those from which rules of either base lead to them."""
        atoms = {self.state.setting.decision.atom}
        for side in self.state.sides.values():
            atoms.update(literal.atom for said in side.commitments for literal in (*said.body, said.head))
        agenda = sorted(atoms)
        for atom in agenda:  # grows while it is read
            for formula in self.state.setting.everything:
                new = {literal.atom for literal in formula.body} - atoms if formula.head.atom == atom else set()
                atoms.update(new)
                agenda.extend(sorted(new))
        return frozenset(atoms)

    @property
    def on_topic(self) -> tuple[tuple[Formula, ...], tuple[Formula, ...]]:
        """The explainer's and the explainee's last base, restricted to the topic."""
        return self._restricted(-1)

    @property
    def jaccard(self) -> tuple[float | None, float | None]:
        """Shared part of what follows on the topic, before and after, in [0, 1]; None where nothing follows."""
        return self._shared(0), self._shared(-1)

    @property
    def complete(self) -> bool:
        """Whether all arguments were found; if not, understanding is about those found."""
        return self.state.setting.complete

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        state = self.state
        return {
            "calculus": "dialectical reconciliation over definite rules",
            "decision": str(state.setting.decision),
            "bases": {
                speaker: {"before": first.to_json(), "after": last.to_json()}
                for speaker, (first, last) in self._bases.items()
            },
            "policies": dict(zip(("explainer", "explainee"), self.policies, strict=True)),
            "seed": self.seed,
            "moves": [{"time": time, **move.to_json()} for time, move in enumerate(state.moves, start=1)],
            "revisions": [{"time": time, **revision.to_json()} for time, revision in state.revisions.items()],
            "declined": sorted(state.declined),
            "turns": state.turns,
            "bound": state.setting.bound.to_json(),
            "complete": self.complete,
            "status": self.status,
            "outcomes": list(self.outcomes),
            "decision_holds": self.decision_holds,
            "understanding": {"before": self.before.to_json(), "after": self.after.to_json()},
            "jaccard": dict(zip(("before", "after"), self.jaccard, strict=True)),
            "changes": dict(self.changes),
            "symmetry": self.symmetry,
        }

    @cached_property
    def hash(self) -> str:
        """Hash of the canonical JSON (sha256, hexadecimal): the same input gives the same hash."""
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def lines(self) -> list[str]:
        """Return the transcript and the outcome as text."""
        lines = []
        for time, move in enumerate(self.state.moves, start=1):
            lines.append(f"{time:>3} {move.speaker}: {move}{' (declined)' * (time in self.state.declined)}")
            revision = self.state.revisions.get(time)
            if revision is not None:
                gained, lost = (
                    ", ".join(map(str, formulas)) or "nothing" for formulas in (revision.added, revision.dropped)
                )
                least = "" if revision.exact else ", perhaps not the least"
                lines.append(f"    {move.speaker} takes in {gained}; drops {lost} (cost {revision.cost:g}{least})")
        total = len(self.before.known) + len(self.before.missing)
        changes = ", ".join(f"{speaker} {count}" for speaker, count in self.changes.items())
        symmetry = "none" if self.symmetry is None else f"{self.symmetry:g}"
        length = f"{len(self.state.moves)} moves of at most {self.state.setting.bound.moves}"
        lines += [
            f"status: {self.status} ({', '.join(self.outcomes)}) after {length}",
            f"understanding: {len(self.before.known)}/{total} before, {len(self.after.known)}/{total} after",
            f"changes: {changes}; symmetry {symmetry}",
        ]
        if not self.decision_holds:
            lines.append(f"the explainer's base no longer derives {self.state.setting.decision}")
        if not self.complete:
            lines.append("not all arguments were found: the search stopped at its limit")
        return lines

    @property
    def _bases(self) -> Mapping[Speaker, tuple[KnowledgeBase, KnowledgeBase]]:
        """Each speaker's base before and after."""
        setting, sides = self.state.setting, self.state.sides
        return {
            "explainer": (setting.explainer, sides["explainer"].base),
            "explainee": (setting.explainee, sides["explainee"].base),
        }

    def _restricted(self, when: int) -> tuple[tuple[Formula, ...], tuple[Formula, ...]]:
        """Return the bases of one time, restricted to the topic."""
        one, other = (
            tuple(formula for formula in bases[when].formulas if formula.head.atom in self.topic)
            for bases in self._bases.values()
        )
        return one, other

    def _shared(self, when: int) -> float | None:
        """Return the Jaccard index of what follows from the restricted bases."""
        one, other = map(closure, self._restricted(when))
        return len(one & other) / len(one | other) if one | other else None


def reconcile(
    explainer: KnowledgeBase,
    explainee: KnowledgeBase,
    decision: str | Literal,
    *,
    policies: tuple[str | Policy, str | Policy] = ("cooperative", "cooperative"),
    seed: int = 0,
    max_turns: int | None = None,
    limit: int = LIMIT,
) -> Dialogue:
    """Let an explainer give its reasons for a decision to an explainee that may know and hold otherwise.

    Parameters
    ----------
    explainer, explainee
        What they hold; each consistent.
    decision
        A literal that the explainer's base derives.
    policies
        Of the explainer and the explainee: ``"cooperative"``, ``"stubborn"``, ``"capitulating"``, ``"random"``, or a
        function (state, legal moves) → move, or None to leave the turn out.
    seed
        Of random policies.
    max_turns
        Turns after which the dialogue is ``truncated``, at least 1; None for no such end: it ends by itself, within
        ``Bound.moves`` moves.
    limit
        Most arguments for one literal in one base, at least 1. If there are more, `Dialogue.complete` is False.

    Raises
    ------
    InputError
        If a base is inconsistent, the explainer's does not derive the decision, a parameter is out of range, a policy
        is unknown, or a policy makes an illegal move.
    """
    literal = Literal.parse(decision) if isinstance(decision, str) else decision
    if max_turns is not None and max_turns < 1:
        raise InputError(f"max_turns is {max_turns}; allowed: at least 1, or None")
    if len(policies) != 2:
        raise InputError(f"{len(policies)} policies; allowed: 2, of the explainer and the explainee")
    speaking = {"explainer": policy_named(policies[0], seed), "explainee": policy_named(policies[1], seed)}
    state = State.opening(Setting(explainer, explainee, literal, limit))
    before = understanding(state)
    while state.ending is None:
        if state.turns == max_turns:
            state = replace(state, ending="truncated")
            break
        move = speaking[state.turn](state, legal_moves(state))
        state = skip(state) if move is None else play(state, move)
    names = (_label(policies[0]), _label(policies[1]))
    return Dialogue(state, names, seed, before, understanding(state))


def _label(policy: str | Policy) -> str:
    """Return the name of a policy, for the record."""
    return policy if isinstance(policy, str) else getattr(policy, "__name__", type(policy).__name__)
