"""`Axiom`: a property that a rule has or lacks, and the check of it on E; the registry knows every axiom by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from accordant.arrays import Floats, Mask, Values
from accordant.axioms.outcome import Outcome, outcome_of
from accordant.errors import InputError
from accordant.registry import Registry
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

axioms: Registry[Axiom] = Registry("axiom", group="accordant.axioms", packages=("accordant.axioms",))


@dataclass(frozen=True, eq=False)
class Setting:
    """A rule, the E on which it is checked, and a seeded generator of changes to E.

    Attributes
    ----------
    rule
        A deterministic rule; reference points of mode ``"global"`` must have been fitted, and stay as they are.
    expected
        E in float64.
    seed
        Seed of the changes; every axiom starts from it anew.
    """

    rule: Strategy
    expected: ExpectedRewards
    seed: int = 0

    @classmethod
    def of(cls, rule: Strategy, expected: ExpectedRewards, seed: int = 0) -> Setting:
        """Return a setting whose E is in float64: changes of E must not be rounded to seven digits."""
        return cls(rule, _expected(expected.values, expected.stakeholders, expected.actions), seed)

    @property
    def values(self) -> Values:
        """E, shape (stakeholder, action, context)."""
        return np.asarray(self.expected.values, dtype=np.float64)

    @cached_property
    def before(self) -> Outcome:
        """What the rule makes of E as it is."""
        return outcome_of(self.rule, self.expected)

    def generator(self) -> np.random.Generator:
        """Return a fresh generator of changes."""
        return np.random.default_rng(self.seed)

    def changed(
        self, values: Values, stakeholders: tuple[str, ...] | None = None, actions: tuple[str, ...] | None = None
    ) -> ExpectedRewards:
        """Return changed expected rewards under the names of E, or under others."""
        return _expected(values, stakeholders or self.expected.stakeholders, actions or self.expected.actions)


@dataclass(frozen=True, eq=False)
class Trial:
    """One change of E, made in all contexts at once, and what came of it.

    Attributes
    ----------
    judged
        Contexts in which the axiom was put to the test: its premise held, shape (context,).
    violated
        Contexts in which it failed; only those that are also `judged` count, shape (context,).
    say
        What happened, in plain words: a sentence, or a function from a context to one.
    after
        The changed E and what the rule makes of it; None if the axiom speaks about one E.
    """

    judged: Mask
    violated: Mask
    say: str | Callable[[int], str]
    after: tuple[ExpectedRewards, Outcome] | None = None


@dataclass(frozen=True, eq=False)
class Situation:
    """One context, small enough to be printed and checked by hand.

    Attributes
    ----------
    values
        E, shape (stakeholder, action).
    stakeholders, actions
        Names of the axes.
    winners
        Actions at the best score.
    chosen
        The decision.
    """

    values: Values
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    winners: tuple[str, ...]
    chosen: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "expected_rewards": self.values.tolist(), "stakeholders": list(self.stakeholders),
            "actions": list(self.actions), "winners": list(self.winners), "chosen": self.chosen,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Witness:
    """A context in which an axiom fails, with everything that is needed to see it.

    Attributes
    ----------
    context
        Number of the context.
    before, after
        E as it is and as it was changed; `after` is None if the axiom speaks about one E.
    sentence
        What happened, in plain words.
    """

    context: int
    before: Situation
    after: Situation | None
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        after = None if self.after is None else self.after.to_json()
        return {"context": self.context, "sentence": self.sentence, "before": self.before.to_json(), "after": after}


@dataclass(frozen=True, eq=False)
class Finding:
    """What the check of one rule against one axiom found.

    Attributes
    ----------
    rule, axiom
        Label of the rule and name of the axiom.
    judged
        Number of contexts in which the axiom was put to the test.
    violated
        Number of those in which it failed.
    witness
        The first of them, or None.
    inapplicable
        Why the axiom says nothing about this rule; empty if it does.
    """

    rule: str
    axiom: str
    judged: int = 0
    violated: int = 0
    witness: Witness | None = None
    inapplicable: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        witness = None if self.witness is None else self.witness.to_json()
        counts = {"judged": self.judged, "violated": self.violated}
        return {"rule": self.rule, "axiom": self.axiom, **counts, "inapplicable": self.inapplicable, "witness": witness}


class Axiom(ABC):
    """A property of rules.

    Attributes
    ----------
    name
        Registered name.
    head
        Short name for the head of a column.
    statement
        The property in one sentence.
    source
        Who stated it, and when.
    about
        What it is judged on: ``"winners"``, all actions at the best score; ``"decisions"``, after the tie rule;
        ``"ranking"``, the order of all actions by score.
    impartial
        Whether it asks that stakeholders count alike, so that it says nothing about a rule with unequal weights.
    about_all
        Whether a violation is something that happens on every E, so that some E cannot prove it.
    """

    name: str
    head: str
    statement: str
    source: str
    about: Literal["winners", "decisions", "ranking"] = "winners"
    impartial: bool = False
    about_all: bool = False

    @abstractmethod
    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Yield changes of E with what came of them."""

    def itself(self) -> Axiom:
        """Return the axiom: the factory of one that is a row of a table."""
        return self

    def check(self, rule: Strategy, expected: ExpectedRewards, seed: int = 0) -> Finding:
        """Check a rule on E.

        Parameters
        ----------
        rule
            A rule that reads nothing but E.
        expected
            E.
        seed
            Seed of the changes of E.
        """
        return self.examine(Setting.of(rule, expected, seed))

    def examine(self, setting: Setting) -> Finding:
        """Check a rule in a setting, which several axioms may share."""
        rule = setting.rule
        inapplicable = self._inapplicable(setting)
        if inapplicable:
            return Finding(rule.label, self.name, inapplicable=inapplicable)
        try:
            return self._found(setting)
        except InputError as error:  # such as a parameter for a number of stakeholders that is no longer there
            return Finding(rule.label, self.name, inapplicable=f"it refuses E as the axiom changes it: {error}")

    def _found(self, setting: Setting) -> Finding:
        n_contexts = setting.expected.n_contexts
        judged, violated = np.zeros(n_contexts, dtype=bool), np.zeros(n_contexts, dtype=bool)
        first: Witness | None = None
        for trial in self.trials(setting):
            here = trial.judged & self._visible(setting.before)
            if trial.after is not None:
                here = here & self._visible(trial.after[1])
            failed = here & trial.violated
            judged |= here
            violated |= failed
            if first is None and failed.any():
                first = _witness(setting, trial, int(np.flatnonzero(failed)[0]))
        return Finding(setting.rule.label, self.name, int(judged.sum()), int(violated.sum()), first)

    def _inapplicable(self, setting: Setting) -> str:
        """Return why the axiom says nothing about the rule, or nothing if it does."""
        rule = setting.rule
        if setting.before.drawn:
            return "its decisions are drawn; axioms are about the action that a rule takes"
        if self.impartial and not weights_are_equal(rule):
            return "its stakeholder weights are unequal, so stakeholders are not meant to count alike"
        if self.about == "ranking" and setting.before.scores is None:
            return "it does not score every action"
        return ""

    def _visible(self, outcome: Outcome) -> Mask:
        """Return where what the axiom is judged on is known."""
        return outcome.known if self.about == "winners" else np.ones(len(outcome.codes), dtype=bool)


register = axioms.named


def register_table(*table: Axiom) -> None:
    """Register axioms that differ in a formula only, each by its own name."""
    for axiom in table:
        axioms.register(axiom.name)(axiom.itself)


def weights_are_equal(rule: Strategy) -> bool:
    """Return whether all stakeholders count alike."""
    return len(set(getattr(rule, "weights", None) or (1.0,))) == 1


def _expected(values: Floats, stakeholders: tuple[str, ...], actions: tuple[str, ...]) -> ExpectedRewards:
    return ExpectedRewards(np.asarray(values, dtype=np.float64), stakeholders=stakeholders, actions=actions)


def _witness(setting: Setting, trial: Trial, context: int) -> Witness:
    after = None if trial.after is None else _situation(*trial.after, context)
    sentence = trial.say if isinstance(trial.say, str) else trial.say(context)
    return Witness(context, _situation(setting.expected, setting.before, context), after, sentence)


def _situation(expected: ExpectedRewards, outcome: Outcome, context: int) -> Situation:
    return Situation(
        np.array(expected.values[:, :, context], dtype=np.float64),
        expected.stakeholders,
        expected.actions,
        tuple(name for name, wins in zip(expected.actions, outcome.winners[:, context], strict=True) if wins),
        expected.actions[outcome.codes[context]],
    )
