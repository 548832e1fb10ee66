"""Explanations of a finished run's decisions, for rows of a file or for the untouched rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import IO, Any

import numpy as np

from accordant.certificates import Known
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.explanation import Addressee, Explanation, PersonExplanation, as_document, influence, pivotal
from accordant.problem import value_label
from accordant.report.explanation import render_explanation, render_letters
from accordant.report.labels import readable_names, text_with_names
from accordant.runs.folder import Run
from accordant.runs.record import Record
from accordant.runs.sections.adoption import Adoption, adoptions, context_hashes
from accordant.runs.untouched_rows import contexts_of, untouched_rows
from accordant.strategies import Strategy
from accordant.tables.output import write_output


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Explanations of some rows, with what they were made of.

    Attributes
    ----------
    run, rule
        The run, and the strategy that decided.
    contexts
        All rows of the call.
    origin
        Where they come from, in words.
    explanations
        Of the rows that were asked about, after what people adopted.
    adopted
        Row to the section and the adoption that decides it.
    """

    run: Run
    rule: Strategy
    contexts: Contexts
    origin: str
    explanations: tuple[Explanation, ...]
    adopted: dict[int, tuple[str, Adoption]]

    def letters(self, language: str) -> tuple[PersonExplanation, ...]:
        """Return each explanation in plain words for the person whom it is about."""
        return tuple(
            explanation.for_person(addressee_of(self.run), language=language) for explanation in self.explanations
        )


def explained_rows(
    run: Run, source: str | Path | IO[str] | None, *, rows: Sequence[int] = (0,), strategy: str | None = None,
    data: str | None = None,
) -> ExplainedRows:  # fmt: skip
    """Explain decisions of a run.

    Parameters
    ----------
    run
        From `read_run`.
    source
        A CSV file with new rows, or an open text stream; None for the untouched rows of the run.
    rows
        Positions of the rows to explain.
    strategy
        Label of another strategy than the selected one.
    data
        Data file or folder of the run: where the untouched rows come from, and all training rows among which changes
        are looked for. Without it, changes of rows of a file are looked for among the training rows that the run keeps.

    Raises
    ------
    InputError
        If rows, data or strategy cannot be used.
    """
    training = None
    if source is None or data is not None:
        untouched = untouched_rows(run, data)
        training = untouched.training.log.contexts
    if source is None:
        contexts, origin = untouched.data.log.contexts, f"{untouched.notice}{untouched.origin}"
    else:
        contexts, origin = contexts_of(run, source, None)
        if isinstance(source, str | Path):
            origin = origin.replace(str(source), Path(source).name)
    return explained_contexts(run, contexts, origin, rows=rows, strategy=strategy, training=training)


def explained_contexts(
    run: Run, contexts: Contexts, origin: str, *, rows: Sequence[int] = (0,), strategy: str | None = None,
    training: Contexts | None = None,
) -> ExplainedRows:  # fmt: skip
    """Explain decisions about contexts that were read and typed; see `explained_rows`.

    Parameters
    ----------
    run, rows, strategy
        See there.
    contexts, origin
        All rows, and where they come from in words.
    training
        Rows among which changes are looked for; None for those that the run keeps.
    """
    policy = run.policy
    rule = policy.strategy(strategy or policy.selected_)
    explained = policy.explain(
        contexts, rows=rows, strategy=rule.label, observed=training, changeable=run.case.changeable,
        checked=_probabilities_agree(run),
    )  # fmt: skip
    adopted = adoptions(run) if rule.label == policy.selected_ else {}
    keys = list(context_hashes(contexts.take(np.array(rows, dtype=np.intp)), policy.features_)) if adopted else []
    by_row = {row: adopted[key] for row, key in zip(rows, keys, strict=False) if key in adopted}
    return ExplainedRows(
        run, rule, contexts, origin, tuple(_settled(explanation, by_row) for explanation in explained), by_row
    )


def _settled(explained: Explanation, adopted: Mapping[int, tuple[str, Adoption]]) -> Explanation:
    """Return the explanation of a row that people may have decided."""
    if explained.row not in adopted or explained.person is None:
        return explained
    _, adoption = adopted[explained.row]
    settled = replace(explained.person, settled="adopted", action=adoption.action, chance=None, why=adoption.why)
    return replace(explained, person=settled)


OBSERVED = re.compile(r"observed \S+ in (\d+) of (\d+) rows")  # the note of a mean probability


def _probabilities_agree(run: Run) -> bool | None:
    """Return whether mean probabilities of all outcomes agree with their shares on untouched rows, compared together.

    None for continuous outcomes. Differences are measured in the standard errors of the record, at 5 % over all.
    """
    measures = [(measure, OBSERVED.fullmatch(measure.note)) for measure in run.record.outcome_model.quality]
    checked = [
        ((measure.value or 0.0) - int(note[1]) / int(note[2]), measure.standard_error or 0.0)
        for measure, note in measures
        if note is not None
    ]
    if not checked:
        return None
    limit = NormalDist().inv_cdf(1 - 0.05 / (2 * len(checked)))
    return all(abs(difference) <= limit * error for difference, error in checked)


def addressee_of(run: Run) -> Addressee:
    """Return to whom decisions of a run are explained, and with what words of its case."""
    case = run.case
    scope = case.scope
    return Addressee(
        person=case.person_concerned or "", labels=case.labels, title=case.title,
        appeal_route=scope.appeal_route if scope else "", responsible_party=scope.responsible_party if scope else "",
        favourable=case.problem.favourable_actions, source=run.path.name, simulated=run.record.data.simulated,
    )  # fmt: skip


def document_of(found: ExplainedRows) -> dict[str, Any]:
    """Return explanations as plain values, with who moved the decisions of all rows."""
    run, rule, contexts = found.run, found.rule, found.contexts
    policy = run.policy
    expected, known = policy.expected_rewards(contexts), Known(policy.outcome_model_.predict(contexts), None, contexts)
    groups = _groups(run, contexts)
    document = as_document(
        found.explanations,
        title=f"{run.case.title}: decisions explained",
        source=found.origin.replace(str(run.path), run.path.resolve().name),  # pages go to whom folders say nothing
        influence=influence(rule, expected, known=known, groups=groups),
        pivotal=pivotal(rule, expected, known=known, groups=groups),
        rests_on=[
            f"What {name} is expected to get rests on a reward {source.sentence_end}."
            for name, source in run.record.reward_sources.items()
        ],
    )
    unusual, referred, fall_back = policy.handling_of(contexts)
    decisions = policy.recommend(contexts, strategy=rule.label).decisions
    for explanation in document["explanations"]:
        row = explanation["row"]
        if row in found.adopted:
            explanation["sentences"]["decides"].insert(0, _adopted(*found.adopted[row]))
        if decisions.policy is not None:
            explanation["sentences"]["decides"].append(_drawn(decisions, row))
        if unusual.remarks[row]:
            explanation["sentences"]["sure"].append(_unusual(str(unusual.remarks[row]), referred[row], fall_back[row]))
    return document


def _unusual(remark: str, referred: bool, fall_back: bool) -> str:
    """Return in what a row is unlike the training rows, and what follows."""
    followed = "A person decides. " if referred else "The declared fall-back action is taken. " if fall_back else ""
    return f"This row is unlike the training rows: {remark}. {followed}The rule's choice may not be meant for it."


def _adopted(number: str, adoption: Adoption) -> str:
    """Return what was adopted for a row, and that the explanation is about the rule."""
    return (
        f"This row is decided by a debate: {adoption.action} (section {number}), adopted by {adoption.by}: "
        f"{adoption.why}. What is said here is about what the rule would choose."
    )


def _drawn(decisions: Decisions, row: int) -> str:
    """Return which action was drawn, and that the explanation is about the most probable one."""
    assert decisions.policy is not None
    column, names = decisions.policy[:, row].tolist(), decisions.action_names
    chances = ", ".join(f"{name} {chance:.3f}" for name, chance in zip(names, column, strict=True))
    drawn, number = names[decisions.codes[row]], decisions.quantities["draw"][row]
    return (
        f"The rule draws, with probabilities {chances}; the number {number:.4f} drew {drawn}. "
        "What is said here is about the most probable action."
    )


def _groups(run: Run, contexts: Contexts) -> list[str] | None:
    """Return the group of each row by the first sensitive attribute that the rows have; None if they have none."""
    for attribute in run.case.problem.sensitive_attributes:
        if attribute.name in contexts:
            return [value_label(value) for value in contexts[attribute.name]]
    return None


def write_explanation(document: dict[str, Any], record: Record, out: Path) -> None:
    """Write explanations as one HTML file, which speaks by the names of the page of the run."""
    write_output(out, text_with_names(render_explanation(document), readable_names(record)))


def write_letters(letters: Sequence[PersonExplanation], out: Path) -> None:
    """Write explanations for persons as one HTML file, one page each when printed."""
    write_output(out, render_letters(letters))
