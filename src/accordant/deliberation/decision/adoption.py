"""Adopting what a debate settled on: what may be adopted, and the section that says so."""

from __future__ import annotations

from accordant import __version__
from accordant.deliberation.decision.result import DecisionDebate
from accordant.deliberation.usage import fallbacks, moves
from accordant.errors import InputError
from accordant.runs.chain import Link
from accordant.runs.folder import Run
from accordant.runs.sections.adoption import Adoption, context_hash


def adoption_of(run: Run, debate: DecisionDebate, link: Link, by: str, why: str) -> Adoption:
    """Return the adoption of a debate's decision.

    Parameters
    ----------
    run, debate, link
        The run, the debate, and the section of the run that holds it.
    by, why
        Who adopts it, and why.

    Raises
    ------
    InputError
        If several rows were debated, a rule stood in for a language model, or nobody agreed.
    """
    reason = _refusal(debate)
    if reason:
        raise InputError(f"{link.file} stays in the run and is not adopted: {reason}")
    (row,) = debate.rows
    return Adoption(
        accordant=__version__, debate=link.file, debate_sha256=link.sha256, row=row.row, source=debate.source,
        context_sha256=context_hash(row.context, run.policy.features_), action=row.settled,
        recommended=row.recommended, unusual=row.unusual, by=by, why=why.rstrip("."), remarks=debate.warnings,
    )  # fmt: skip


def _refusal(debate: DecisionDebate) -> str:
    """Return why a debate may not be adopted; empty if it may."""
    replaced = fallbacks(debate.usage)
    if debate.scarce is not None or len(debate.rows) != 1:
        return f"it is about {len(debate.rows)} rows; allowed: a debate of one row"
    if replaced:
        return f"a rule stood in for a language model in {replaced} of {moves(debate.usage)} moves"
    if not debate.deliberation.settled.agreed:
        return "nobody agreed: what was taken has the highest sum of expected rewards, and that is not a settlement"
    return ""
