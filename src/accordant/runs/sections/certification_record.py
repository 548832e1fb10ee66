"""The section ``certificates``: what was certified about decisions of a run, as it is added to the run."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from accordant import __version__, limits
from accordant.certificates import Certificate
from accordant.naming import counted, listed
from accordant.runs.folder import Run
from accordant.runs.record import UnusualPart
from accordant.runs.record.scrutiny import SurveyPart, ThreatPart
from accordant.runs.sections.certification import DELTAS, Certified
from accordant.runs.sections.paper_certificate import PaperPart
from accordant.runs.sections.rows import RowsPart
from accordant.sections import Figure, Part, Section, sections


class CertifiedRow(Part):
    """One decision.

    Attributes
    ----------
    row, action
        Its position among the rows, and what the rule chooses.
    certified
        Whether no misreport within the threat changes it.
    reachable, attainable
        Actions that could not be ruled out, and those for which a misreport is known.
    radii
        Largest misreport that does not change it, one per coalition of the survey; ``inf`` for never.
    unusual, referred, fall_back
        In what the row is unlike the training rows, and what follows from it.
    """

    row: int
    action: str
    certified: bool
    reachable: tuple[str, ...]
    attainable: tuple[str, ...]
    radii: tuple[Figure | Literal["inf"], ...]
    unusual: str
    referred: bool
    fall_back: bool


@sections.register("certificates")
class CertificatesResult(Section):
    """What was certified about decisions of a run.

    Attributes
    ----------
    accordant
        Version of the program.
    rows
        Which rows.
    rule, selected
        Label of the strategy, and whether it is D* of the run.
    threat, method, tolerance
        See `accordant.certificates.Certificate`.
    contexts, certified, attackable, exact
        How many decisions; how many cannot change, are known to change under some misreport, and are known exactly.
    survey
        Radii against every coalition.
    unusual
        How many rows are unlike the training rows.
    decisions, left_out
        The first rows one by one, and how many more there are.
    paper
        The schema of the paper beside it; None if nobody asked.
    """

    name: ClassVar[str] = "certificates"
    version: ClassVar[int] = 1

    accordant: str
    rows: RowsPart
    rule: str
    selected: bool
    threat: ThreatPart
    method: str
    tolerance: Figure
    contexts: int
    certified: int
    attackable: int
    exact: int
    survey: SurveyPart
    unusual: UnusualPart
    decisions: tuple[CertifiedRow, ...]
    left_out: int
    paper: PaperPart | None = None

    @property
    def words(self) -> str:
        """What was certified, in one sentence."""
        coalition = self.threat.coalition
        who = "everybody together" if coalition is None else listed(coalition) or "nobody"
        left = f" {counted(self.left_out, 'row is', 'rows are')} counted and not listed." if self.left_out else ""
        return (
            f"Of {counted(self.contexts, 'decision')} by {self.rule} ({self.rows.words}), {self.certified:,} cannot "
            f"change if {who} may misreport each expected reward by up to {self.threat.delta:g}; "
            f"a misreport that changes the decision is known for {self.attackable:,}.{left}"
        )


def certificates_section(run: Run, rows: RowsPart, certified: Certified) -> CertificatesResult:
    """Return what was certified as a section.

    Rows are listed as far as `accordant.limits.SECTION_RADII` allows, and counted beyond.

    Parameters
    ----------
    run, rows, certified
        The run, which of its rows, and what `accordant.runs.sections.certification.certify_rows` found.
    """
    certificate = certified.certificate
    listed_rows = min(certificate.expected.n_contexts, limits.SECTION_RADII.most // len(certified.survey.coalitions))
    return CertificatesResult.read({
        "accordant": __version__, "rows": rows, "selected": certificate.rule.label == run.record.selected,
        **certificate.to_json(), "survey": certified.survey.to_json(sorted({*DELTAS, certificate.threat.delta})),
        "unusual": certified.counts.to_json(), "paper": certified.paper,
        "decisions": tuple(_row(certified, certificate, t) for t in range(listed_rows)),
        "left_out": certificate.expected.n_contexts - listed_rows,
    })  # fmt: skip


def _row(certified: Certified, certificate: Certificate, t: int) -> CertifiedRow:
    names = certificate.expected.actions
    return CertifiedRow(
        row=t,
        action=names[certificate.decided[t]],
        certified=bool(certificate.certified[t]),
        reachable=tuple(names[a] for a in np.flatnonzero(certificate.outer[:, t])),
        attainable=tuple(names[a] for a in np.flatnonzero(certificate.inner[:, t])),
        radii=tuple("inf" if np.isinf(radius) else float(radius) for radius in certified.survey.radii[:, t]),
        unusual=str(certified.unusual.remarks[t]),
        referred=bool(certified.referred[t]),
        fall_back=bool(certified.fall_back[t]),
    )
