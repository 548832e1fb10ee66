"""Preference sources of a case: where each stakeholder's reward comes from, and which entry stands instead of which.

    rewards: {set: lending, noise: 0.05, Applicant: {signal: comparisons, file: answers.csv}}

An entry of a stakeholder is one of

    {table: …, attribute: …}      a value for every action and outcome; with ``guessed: true`` nobody said them yet
    {column: NAME}                recorded for what was done
    {signal: NAME, …parameters}   a registered reward: a formula, or one that is learned, such as ``comparisons``
    {set: NAME, …parameters}      what a registered set of rewards has for this stakeholder

and replaces what the set of the whole case has for the same stakeholder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import PurePath
from typing import Any

from accordant.cases.parts import reward_sets
from accordant.errors import InputError, RewardError, SpecError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal, TableReward, rewards

SET = "set"
GUESSED = "guessed"
COMPARISONS = "comparisons"  # the registered reward that is learned from a file of them


@dataclass(frozen=True)
class PreferenceSource:
    """Where the reward of one stakeholder comes from, as a case declares it.

    Attributes
    ----------
    signal
        The reward.
    kind
        ``table``, ``guessed`` (a table that nobody stated), ``column``, ``set``, or the name of the registered reward.
    verb, noun
        The same in words: ``stated in``, ``the case's table``.
    replaces
        Noun of the entry instead of which it stands; empty if it replaces none.
    """

    signal: RewardSignal
    kind: str
    verb: str
    noun: str
    replaces: str = ""

    @property
    def words(self) -> str:
        """Where the reward comes from, as the end of a sentence about it; a learned one says from what."""
        learned = self.signal.provenance()
        if not learned:
            return f"{self.verb} {self.noun}"
        people = f" by {learned['users']} people" if learned["users"] > 1 else ""
        if "model" in learned:
            people = f" that the language model {learned['model']} made"
        return (
            f"learned from {learned['records']} comparisons{people} in {learned['file']}"
            f" (sha256 {learned['sha256'][:12]}…)"
        )


@contextmanager
def at_key(*path: str) -> Iterator[None]:
    """Say of every error inside which keys of the case lead to what is wrong."""
    try:
        yield
    except RewardError as error:
        raise SpecError(f"{path[0]} of {path[-1]!r}: {error}", path=path) from None
    except InputError as error:
        raise SpecError(str(error), path=path) from None


def preference_sources(declared: Mapping[str, Any], problem: DecisionProblem) -> dict[str, PreferenceSource]:
    """Return the source of every stakeholder, from what a case declares under ``rewards``.

    Parameters
    ----------
    declared
        ``{set: NAME, …parameters}`` with entries of the stakeholders for whom something else counts; or one entry per
        stakeholder.
    problem
        Names stakeholders, actions and outcomes.

    Raises
    ------
    SpecError
        If a name is unknown, a reward is missing, or an entry cannot be used; with the keys that lead there.
    """
    names = problem.stakeholder_names
    of_all = SET in declared
    sources = _whole_set(declared, names) if of_all else {}
    for name, entry in declared.items():
        if of_all and name not in names:
            continue  # a parameter of the set
        with at_key("rewards", str(name)):
            source = _source(name, entry)
            sources[name] = replace(source, replaces=sources[name].noun) if name in sources else source
    for name in sources:
        with at_key("rewards", str(name)):
            if name not in names:
                raise UnknownNameError("stakeholder in rewards:", name, names)
    for name in names:
        with at_key("rewards", name):
            if name not in sources:
                raise InputError(f"rewards of stakeholder {name!r} are missing")
            _check_table(name, sources[name].signal, problem)
    return {name: sources[name] for name in names}


def with_comparisons(declared: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """Return what a case declares under ``rewards``, with some stakeholders' entries replaced by files of comparisons.

    An entry that is learned from comparisons already keeps its learner and the like, and reads the other file.

    Parameters
    ----------
    declared
        See `preference_sources`.
    files
        Stakeholder to the name of a file.
    """
    entries = dict(declared)
    for name, file in files.items():
        entry = declared.get(name)
        learned = isinstance(entry, Mapping) and entry.get("signal") == COMPARISONS
        kept = {key: value for key, value in entry.items() if key != "only"} if learned and entry else {}
        entries[name] = {**kept, "signal": COMPARISONS, "file": file}
    return entries


def entry_of(declared: Mapping[str, Any], name: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the entry of one stakeholder, also where it comes from the set of the whole case.

    Parameters
    ----------
    declared
        See `preference_sources`.
    name, names
        The stakeholder, and all of them.
    """
    if name in declared:
        return dict(declared[name])
    return {key: value for key, value in declared.items() if key not in names}


def _whole_set(declared: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, PreferenceSource]:
    """Return the sources of a set of rewards that a whole case is based on."""
    with at_key("rewards"):
        accepted = signature(reward_sets.factory(str(declared[SET]))).parameters
        for key, value in declared.items():
            if isinstance(value, Mapping) and key not in (*accepted, *names):
                raise UnknownNameError("stakeholder in rewards:", key, names)
        return _set({key: value for key, value in declared.items() if key not in names})


def _set(declared: Mapping[str, Any]) -> dict[str, PreferenceSource]:
    name = str(declared[SET])
    signals = reward_sets.create(name, {key: value for key, value in declared.items() if key != SET})
    noun = f"the reward set {name!r}"
    return {stakeholder: PreferenceSource(signal, SET, "stated by", noun) for stakeholder, signal in signals.items()}


def _source(name: str, declared: Any) -> PreferenceSource:
    """Return the source that the entry of one stakeholder declares."""
    if not isinstance(declared, Mapping):
        raise InputError(
            f"rewards of {name!r} must be a table, a column, a registered signal or set; found {declared!r}"
        )
    for kind, build in KINDS.items():
        if kind in declared:
            return build(name, declared)
    raise UnknownNameError(f"kind of reward for {name!r}:", next(iter(declared), ""), KINDS)


def _table(name: str, declared: Mapping[str, Any]) -> PreferenceSource:
    entry = _only(name, declared, ("table", "attribute", "guessed"))
    guessed = entry.pop("guessed", False)
    if not isinstance(guessed, bool):
        raise InputError(f"guessed is {guessed!r}; allowed: true or false")
    signal = TableReward(**entry)
    noun = "the case's table" if signal.attribute is None else f"the case's tables by {signal.attribute}"
    verb = "guessed, and said by nobody yet, in" if guessed else "stated in"
    return PreferenceSource(signal, GUESSED if guessed else "table", verb, noun)


def _column(name: str, declared: Mapping[str, Any]) -> PreferenceSource:
    signal = ObservedReward(**_only(name, declared, ("column",)))
    return PreferenceSource(signal, "column", "recorded in", f"the column {signal.column!r} of the data")


def _registered(name: str, declared: Mapping[str, Any]) -> PreferenceSource:
    del name
    kind = str(declared["signal"])
    signal = rewards.create(kind, {key: value for key, value in declared.items() if key != "signal"})
    file = declared.get("file")
    noun = f"the {kind} in {PurePath(file).name}" if isinstance(file, str) else f"the formula {kind!r}"
    return PreferenceSource(signal, kind, "stated by", noun)


def _of_set(name: str, declared: Mapping[str, Any]) -> PreferenceSource:
    sources = _set(declared)
    if name not in sources:
        raise UnknownNameError(f"stakeholder in the reward set {declared[SET]!r}:", name, sources)
    return sources[name]


KINDS: dict[str, Callable[[str, Mapping[str, Any]], PreferenceSource]] = {
    "table": _table,
    "column": _column,
    "signal": _registered,
    SET: _of_set,
}
"""The key that tells the kind of an entry, and what reads it."""


def _only(name: str, declared: Mapping[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
    for key in declared:
        if key not in allowed:
            raise UnknownNameError(f"key in the rewards of {name!r}:", key, allowed)
    return dict(declared)


def _check_table(name: str, signal: RewardSignal, problem: DecisionProblem) -> None:
    """Make sure that a table has an entry for every declared action and outcome, and no others."""
    if not isinstance(signal, TableReward):
        return
    if problem.continuous:
        with at_key("rewards", name):
            signal.check_points()
    for table in signal.tables().values():
        rows = () if problem.continuous else table.values()
        for kind, keys, declared in (
            ("action", set(table), problem.actions),
            *(("outcome", set(row), problem.outcome_names) for row in rows),
        ):
            for unknown in sorted(keys - set(declared)):
                raise UnknownNameError(f"{kind} in the reward table of {name!r}:", unknown, declared)
            for missing in (key for key in declared if key not in keys):
                raise InputError(f"the reward table of {name!r} has no entry for {kind} {missing!r}")
