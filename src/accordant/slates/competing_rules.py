"""Which rules compete: by name, or all of them."""

from __future__ import annotations

from collections.abc import Sequence

from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named
from accordant.slates.rule import SlateRule, rules
from accordant.strategies.strategy import strategies

ALL = "all"
ORDER = ("baseline", "welfare", "approval", "moderation", "dynamic", "consumption", "per item")


def rule_of(named: Named) -> SlateRule:
    """Return a slate rule by its name, or the strategy of that name turned to lists.

    Parameters
    ----------
    named
        Name and parameters.

    Raises
    ------
    UnknownNameError
        If neither a slate rule nor a strategy has that name.
    """
    if named.name in rules:
        return rules.create(named.name, named.parameters)
    if named.name in strategies:
        declared = {"name": named.name, "parameters": named.parameters}
        return rules.create("per_item", {"strategy": declared})
    raise UnknownNameError("slate rule", named.name, (*rules.names(), *strategies.names(), ALL))


def rules_of(
    named: Sequence[Named], stakeholders: Sequence[str], user: str | None, n_items: int
) -> tuple[SlateRule, ...]:
    """Return the rules of some names; every rule for ``all``, or if nothing is named.

    Parameters
    ----------
    named
        Names and parameters.
    stakeholders
        Who takes part.
    user
        Which of them is the user; None if nobody is.
    n_items
        Number of items.

    Raises
    ------
    UnknownNameError
        If a rule does not exist.
    InputError
        If a rule is named twice, or ``all`` stands beside other names.
    """
    if not named or [each.name for each in named] == [ALL]:
        found = [each for name in rules for each in _class(name).line_up(stakeholders, user, n_items)]
        return tuple(sorted(found, key=lambda rule: (ORDER.index(rule.kind), rule.label)))
    chosen = [rule_of(each) for each in named if each.name != ALL]
    if len(chosen) < len(named):
        raise InputError(f"{ALL!r} names every rule and stands alone")
    labels = [rule.label for rule in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"the rule {label!r} is named twice")
    return tuple(chosen)


def _class(name: str) -> type[SlateRule]:
    """Return the class that is registered under a name."""
    factory = rules.factory(name)
    if not (isinstance(factory, type) and issubclass(factory, SlateRule)):
        raise InputError(f"slate rule {name!r} is registered by a {type(factory).__name__}; allowed: a class")
    return factory
