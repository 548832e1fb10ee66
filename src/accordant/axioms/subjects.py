"""Which rules axioms are about: those that read nothing but E and decide without drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from accordant.errors import InputError, UnknownNameError
from accordant.strategies import strategies
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import Kind, Strategy
from accordant.utilities import ExpectedRewards

KINDS: tuple[Kind, ...] = ("compromise", "voting", "stakeholder", "baseline", "reference")  # as they are listed


def reads_rewards_only(rule: Strategy) -> bool:
    """Return whether axioms can be about a rule; a constant, which reads nothing at all, is among them."""
    decides = isinstance(rule, ContextRule) and rule.may_be_selected and rule.fitted
    return rule.name == "constant" or (decides and not rule.draws)


def registered_rules(expected: ExpectedRewards) -> tuple[Strategy, ...]:
    """Return every registered rule with default parameters, each stakeholder alone, and one constant.

    All constants are alike but for the name of the action, so the first action stands for all. Rules with other
    required parameters, and those that need training contexts, are left out.
    """
    rules: list[Strategy] = []
    for name in strategies:
        if name == "stakeholder":
            rules += [strategies.create(name, {"stakeholder": stakeholder}) for stakeholder in expected.stakeholders]
        elif name == "constant":
            rules.append(strategies.create(name, {"action": expected.actions[0]}))
        else:
            try:
                rules.append(strategies.create(name))
            except InputError:  # a required parameter is missing
                continue
    return tuple(sorted(filter(reads_rewards_only, rules), key=lambda rule: KINDS.index(rule.kind)))


def rules_for(
    expected: ExpectedRewards, names: Sequence[str] | None = None, own: Mapping[str, Strategy] | None = None
) -> tuple[Strategy, ...]:
    """Return the rules to judge, by label or registered name, or all.

    Parameters
    ----------
    expected
        E; its names fill ``stakeholder:NAME`` and ``constant:ACTION``.
    names
        Labels or registered names; None for all.
    own
        Rules of a run by label, fitted. They take the place of registered ones of the same name.

    Raises
    ------
    UnknownNameError
        If there is no such rule.
    InputError
        If a rule reads something else than E, or draws.
    """
    constants = {f"constant:{action}": strategies.create("constant", {"action": action}) for action in expected.actions}
    fitted = {
        label: rule for label, rule in (own or {}).items() if reads_rewards_only(rule) and rule.name != "constant"
    }
    taken = {rule.name for rule in fitted.values()}
    rules = fitted | {rule.label: rule for rule in registered_rules(expected) if rule.name not in taken}
    if names is None:
        return tuple(rules.values())
    return tuple(dict.fromkeys(rule for name in names for rule in _named(name, constants | rules)))


def _named(name: str, rules: Mapping[str, Strategy]) -> Iterable[Strategy]:
    """Return the rule with this label, or all rules with this registered name."""
    if name in rules:
        return [rules[name]]
    if name not in strategies:
        raise UnknownNameError("rule", name, rules)
    registered = strategies.factory(name)
    matches = [rule for rule in rules.values() if rule.name == getattr(registered, "name", name)]
    if not matches:
        raise InputError(
            f"{name!r} reads something else than expected rewards, or draws, or needs training contexts; "
            f"valid: {', '.join(rules)}"
        )
    return matches
