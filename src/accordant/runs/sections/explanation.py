"""Explanations of a finished run's decisions, for rows of a file or for the untouched rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from accordant.certificates import Known
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.explanation import as_document, influence, pivotal
from accordant.problem import value_label
from accordant.report.explained import render_explanation
from accordant.runs.folder import Run
from accordant.runs.recommendation import contexts_of
from accordant.runs.sections.adoption import Adoption, adoptions, context_hashes
from accordant.tables.output import write_output


def explain_rows(
    run: Run,
    source: str | Path | IO[str] | None,
    *,
    rows: Sequence[int] = (0,),
    strategy: str | None = None,
    data: str | None = None,
) -> dict[str, Any]:
    """Explain decisions of a run; the result is what ``explain --json`` prints.

    Parameters
    ----------
    run
        From `read_run`.
    source
        A CSV file with new rows, or an open text stream; None for the untouched rows of the run. The nearest context
        with another decision is looked for among the same rows.
    rows
        Positions of the rows to explain.
    strategy
        Label of another strategy than the selected one.
    data
        Data file or folder of the run, where the untouched rows come from.

    Raises
    ------
    InputError
        If rows, data or strategy cannot be used.
    """
    policy = run.policy
    contexts, origin = contexts_of(run, source, data)
    rule = policy.strategy(strategy or policy.selected_)
    explained = policy.explain(contexts, rows=rows, strategy=rule.label, observed=contexts)
    expected, known = policy.expected_rewards(contexts), Known(policy.outcome_model_.predict(contexts), None, contexts)
    groups = _groups(run, contexts)
    document = as_document(
        explained,
        title=f"{run.case.title}: decisions explained",
        source=origin,
        influence=influence(rule, expected, known=known, groups=groups),
        pivotal=pivotal(rule, expected, known=known, groups=groups),
        rests_on=[
            f"What {name} is expected to get rests on a reward {each.sentence_end}."
            for name, each in run.record.reward_sources.items()
        ],
    )
    unusual, referred, fall_back = policy.handling_of(contexts)
    decisions = policy.recommend(contexts, strategy=rule.label).decisions
    adopted = adoptions(run) if rule.label == policy.selected_ else {}
    keys = list(context_hashes(contexts.take(np.array(rows, dtype=np.intp)), policy.features_)) if adopted else []
    adopted_here = {row: adopted[key] for row, key in zip(rows, keys, strict=False) if key in adopted}
    for each in document["explanations"]:
        row = each["row"]
        if row in adopted_here:
            each["sentences"]["decides"].insert(0, _adopted(*adopted_here[row]))
        if decisions.policy is not None:
            each["sentences"]["decides"].append(_drawn(decisions, row))
        if unusual.remarks[row]:
            each["sentences"]["sure"].append(_unusual(str(unusual.remarks[row]), referred[row], fall_back[row]))
    return document


def _unusual(remark: str, referred: bool, fall_back: bool) -> str:
    """Return in what a row is unlike the training rows, and what follows."""
    followed = "A person decides. " if referred else "The declared fall-back action is taken. " if fall_back else ""
    return f"This row is unlike the training rows: {remark}. {followed}The rule's choice may not be meant for it."


def _adopted(number: str, found: Adoption) -> str:
    """Return what was adopted for a row, and that the explanation is about the rule."""
    return (
        f"This row is decided by a debate: {found.action} (section {number}), adopted by {found.by}: {found.why}. What "
        "is said here is about what the rule would choose."
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


def write_explanation(document: dict[str, Any], out: Path) -> None:
    """Write explanations as one HTML file."""
    write_output(out, render_explanation(document))
