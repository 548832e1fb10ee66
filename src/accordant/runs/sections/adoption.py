"""Decisions of single contexts that a person adopted for a run, such as what a debate settled on.

An adoption names the section that it rests on by its hash, and the context by the hash of its features. From then on
`recommend` gives rows with these very features the adopted action, in the place of D*; of several adoptions for one
context the last one holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from accordant.contexts import Contexts
from accordant.errors import RunFolderError
from accordant.json_values import json_value
from accordant.recommendation import Recommendations
from accordant.sections import Section, sections

if TYPE_CHECKING:
    from accordant.runs.folder import Run


@sections.register("adoption")
class Adoption(Section):
    """A decision of one context that a person adopted.

    Attributes
    ----------
    accordant
        Version of the program.
    debate, debate_sha256
        File of the section that it rests on, and its hash.
    row, source
        Position of the row, and where it comes from.
    context_sha256
        Hash of its features, see `context_hashes`.
    action
        What was adopted.
    recommended
        What D* says, with the declared handling of unusual rows; None where a person was to decide.
    unusual
        In what the row is unlike the training rows; empty if in nothing.
    by, why
        Who adopted it, and why, as they were typed.
    remarks
        What a reader of the debate was told to mind.
    """

    name: ClassVar[str] = "adoption"
    version: ClassVar[int] = 1

    accordant: str
    debate: str
    debate_sha256: str
    row: int
    source: str
    context_sha256: str
    action: str
    recommended: str | None
    unusual: str
    by: str
    why: str
    remarks: tuple[str, ...]

    @property
    def words(self) -> str:
        """What was adopted, by whom and why, in one sentence."""
        before = f"instead of {self.recommended}" if self.recommended else "where a person was to decide"
        before = "as D* decides too" if self.recommended == self.action else before
        unlike = f" The row is unlike the training rows: {self.unusual}." if self.unusual else ""
        return f"Row {self.row} of {self.source}: {self.action}, {before}, adopted by {self.by}: {self.why}.{unlike}"


def context_hash(values: Mapping[str, Any], features: Sequence[str]) -> str:
    """Return the SHA-256 of one context: the JSON of name and value of each feature in turn; a missing number is null.

    Parameters
    ----------
    values
        Feature to value, as JSON values.
    features
        Those that the policy reads, in its order.
    """
    pairs = [[name, values[name]] for name in features]
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=True).encode()).hexdigest()


def context_hashes(contexts: Contexts, features: Sequence[str]) -> Iterator[str]:
    """Yield `context_hash` of every row."""
    columns = [contexts[name].tolist() for name in features]
    for row in zip(*columns, strict=True):
        yield context_hash(dict(zip(features, map(json_value, row), strict=True)), features)


def adoptions(run: Run) -> dict[str, tuple[str, Adoption]]:
    """Return hash of a context to the number of the section and what was adopted.

    Raises
    ------
    RunFolderError
        If an adoption rests on no section before it, names no action of the run, or is of a version that is not known
        here: what a person signed is not passed over in silence.
    """
    known, before = {}, dict[str, str]()
    for link in run.links:
        if link.envelope.section == Adoption.name:
            section = link.section()
            if not isinstance(section, Adoption):
                version = link.envelope.version
                raise RunFolderError(f"{run.path}: {link.file} has version {version}; allowed: {Adoption.version}")
            if before.get(section.debate) != section.debate_sha256:
                raise RunFolderError(f"{run.path}: {link.file} rests on {section.debate}, which is not before it")
            if section.action not in run.case.problem.actions:
                raise RunFolderError(f"{run.path}: {link.file} adopts {section.action!r:.60}, no action of the run")
            known[section.context_sha256] = (link.number, section)
        before[link.file] = link.sha256
    return known


def with_adopted(
    recommended: Recommendations, contexts: Contexts, features: Sequence[str], known: Mapping[str, tuple[str, Adoption]]
) -> Recommendations:
    """Return recommendations of D* with what was adopted for contexts with the same features.

    Parameters
    ----------
    recommended, contexts, features
        What the policy recommends, for which contexts of its types, and the features that it reads.
    known
        From `adoptions`.
    """
    if not known:
        return recommended
    names = recommended.decisions.action_names
    matched = [known.get(key) for key in context_hashes(contexts, features)]
    codes = np.array([-1 if match is None else names.index(match[1].action) for match in matched], dtype=np.intp)
    remarks = ["" if match is None else f"decided by debate, section {match[0]}" for match in matched]
    return recommended.adopted_where(codes, np.array(remarks, dtype=str))


def recommended(run: Run, X: Any, strategy: str | None) -> Recommendations:
    """Return what a run recommends for contexts; of D* what people adopted for contexts with the same features.

    Parameters
    ----------
    run
        From `read_run`.
    X
        Contexts with the features of the run.
    strategy
        Label of another strategy than the selected one.
    """
    policy = run.policy
    contexts, rule = policy.contexts_of(X), policy.strategy(strategy or policy.selected_)
    known = adoptions(run) if rule.label == policy.selected_ else {}
    return with_adopted(policy.recommend(contexts, strategy=rule.label), contexts, policy.features_, known)
