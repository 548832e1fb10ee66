"""Two impossibility theorems, read off a table: what no rule has together, and what each rule lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from accordant.axioms.table import AxiomTable

ARROW = {
    "weak_pareto": "weak Pareto",
    "pairwise_independence": "pairwise independence",
    "ordinal_invariance": "ordinal invariance",
    "non_dictatorship": "non-dictatorship",
}
GIBBARD_SATTERTHWAITE = {"strategy_proofness": "strategy-proofness", "non_dictatorship": "non-dictatorship"}
NEEDED_STAKEHOLDERS, NEEDED_ACTIONS = 2, 3
MOST_NAMED = 12  # more rules are counted


def arrow(table: AxiomTable) -> str:
    """Return Arrow's theorem (1951) as it shows in a table.

    No rule by which two or more stakeholders rank three or more actions has weak Pareto, independence and
    non-dictatorship, if only orders count.
    """
    if _too_small(table):
        return f"Arrow (1951) speaks about {_too_small(table)}."
    return f"Arrow (1951): of {_counted(table.rules)} {_sentence(table, table.rules, ARROW)}"


def gibbard_satterthwaite(table: AxiomTable) -> str:
    """Return the theorem of Gibbard (1973) and Satterthwaite (1975) as it shows in a table.

    No rule that may choose each of three or more actions is strategy-proof and non-dictatorial; one that chooses some
    of them only may follow a dictator among these.
    """
    source = "Gibbard (1973) and Satterthwaite (1975)"
    if _too_small(table):
        return f"{source} speak about {_too_small(table)}."
    wide = [rule for rule in table.rules if table.chosen[rule] == table.n_actions]
    narrow = [rule for rule in table.rules if rule not in wide]
    spared = f" Not every action was chosen here by {_listed(narrow)}." if narrow else ""
    if not wide:
        return f"{source} speak about rules that choose every action; here is none.{spared}"
    about = f"{_counted(wide)} that chose every action"
    return f"{source}: of {about} {_sentence(table, wide, GIBBARD_SATTERTHWAITE)}{spared}"


def _too_small(table: AxiomTable) -> str:
    """Return what is missing for the theorems to say anything, or nothing."""
    if table.n_stakeholders < NEEDED_STAKEHOLDERS:
        return f"two or more stakeholders; here is {table.n_stakeholders}"
    return "" if table.n_actions >= NEEDED_ACTIONS else f"three or more actions; here are {table.n_actions}"


def missing(table: AxiomTable, rules: Iterable[str], together: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return what each rule is known to lack among some axioms: by a counterexample, or by a violation on E."""
    wanted = tuple(together)
    return {rule: tuple(name for name in wanted if table.satisfied(rule, name) is False) for rule in rules}


def _sentence(table: AxiomTable, rules: Sequence[str], together: Mapping[str, str]) -> str:
    """Return who lacks what; a rule to which one of the axioms does not apply is left out if it lacks no other."""
    lacking, wanted = missing(table, rules, together), _listed(list(together.values()))
    every = [rule for rule in rules if all(table.satisfied(rule, name) for name in together)]
    if every:
        return f"{_listed(every)} should not have {wanted} together; a claim in the table is wrong."
    applies = [rule for rule in rules if not any(table.cells[rule, name].finding.inapplicable for name in together)]
    unseen = [rule for rule in applies if not lacking[rule]]
    start = f"none has {wanted} together" if not unseen else f"{len(rules) - len(unseen)} lack one of {wanted}"
    single = _by_gap({rule: gaps for rule, gaps in lacking.items() if len(gaps) == 1})
    parts = [f"only {together[axiom]} is missing in {_listed(names)}" for axiom, names in single.items()]
    several = sum(len(gaps) > 1 for gaps in lacking.values())
    parts += [f"more in {several}"] if several else []
    details = f" ({'; '.join(parts)})" if parts else ""
    by_theorem = f" By the theorem {_listed(unseen)} must too, though no violation was found here." if unseen else ""
    return f"{start}{details}.{by_theorem}"


def _by_gap(lacking: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule, (gap,) in lacking.items():
        found.setdefault(gap, []).append(rule)
    return found


def _counted(rules: Sequence[str]) -> str:
    return "1 rule" if len(rules) == 1 else f"{len(rules)} rules"


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        return _counted(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
