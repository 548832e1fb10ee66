"""Where the rewards of a run come from: files of comparisons given beside a case, and what the record says of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from accordant.cases.files import find_reward_file
from accordant.cases.preference_sources import with_comparisons
from accordant.cases.spec import CaseSpec
from accordant.errors import DataNotFoundError, InputError, UnknownNameError, nearest
from accordant.rewards import RewardSignal
from accordant.runs.record import RewardSource

FLAG = "--preferences"


def with_preferences(case: CaseSpec, files: Mapping[str, str]) -> CaseSpec:
    """Return a case in which some stakeholders' rewards are learned from files of comparisons.

    Only the names of the files become part of the case: a record must not hold where somebody keeps them.

    Raises
    ------
    InputError
        If there is no such stakeholder, or no such file.
    """
    for name, file in files.items():
        with _given(name, file):
            if name not in case.problem.stakeholder_names:
                raise UnknownNameError("stakeholder", name, case.problem.stakeholder_names)
            if not Path(file).is_file():
                raise DataNotFoundError(_no_file(Path(file)))
    if not files:
        return case
    return case.replace(rewards=with_comparisons(case.rewards, {name: Path(file).name for name, file in files.items()}))


def located_signals(
    case: CaseSpec, beside: Path | None, data: str | None, files: Mapping[str, str] | None = None
) -> dict[str, RewardSignal]:
    """Return the reward signals of a case with the files they name found and looked at.

    Parameters
    ----------
    case
        From `with_preferences`.
    beside
        Folder of the case file; None for built-in cases.
    data
        What ``--data`` names.
    files
        As for `with_preferences`; None for none.

    Raises
    ------
    InputError
        If a file is nowhere, or cannot be used; nothing was learned yet.
    """

    def find(file: str) -> Path:
        """Return the path of a file that a reward names."""
        return find_reward_file(file, data, beside)

    signals = {}
    for name, signal in case.signals().items():
        given = (files or {}).get(name)
        if given is None:
            signals[name] = signal.located(find).of_stakeholder(name, case.problem)
            continue
        with _given(name, given):
            signals[name] = signal.located(_at(Path(given))).of_stakeholder(name, case.problem)
    return signals


def reward_sources(
    declared: CaseSpec,
    case: CaseSpec,
    signals: Mapping[str, RewardSignal],
    files: Mapping[str, str],
    declared_names: Mapping[str, str],
) -> dict[str, RewardSource]:
    """Return what the record says of each stakeholder's reward.

    Parameters
    ----------
    declared, case
        The case as it was read, and as it was run.
    signals
        The fitted rewards.
    files
        As for `located_signals`.
    declared_names
        Stakeholder to the declared one, of which it may be a group.
    """
    before = declared.sources()
    sources = {}
    for name, source in case.sources().items():
        instead = before[declared_names[name]]
        learned = replace(source, signal=signals[name])
        sources[name] = RewardSource(
            kind=source.kind,
            words=learned.words,
            replaces=instead.noun if name in files else instead.replaces,
            given=name in files,
            **signals[name].provenance(),
        )
    return sources


def _at(path: Path) -> Callable[[str], Path]:
    """Return what finds every file at one path."""
    return lambda _: path


@contextmanager
def _given(name: str, file: str) -> Iterator[None]:
    """Say of every error inside which flag it is about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{FLAG} {name}={file}: {error}") from None


def _no_file(path: Path) -> str:
    """Return that there is no file, with the one beside it that is most like it."""
    beside = path.parent.glob("*") if path.parent.is_dir() else ()
    like = nearest(path.name, [file.name for file in beside if file.is_file()])
    hint = f"did you mean {like!r}? " if like else ""
    return f"there is no file {str(path)!r}; {hint}allowed: comparisons as `accordant elicit --out FILE` writes them"
