"""Certificates of a finished run's decisions, for the rows of a file or for the untouched rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from accordant.arrays import Mask
from accordant.certificates import Certificate, Known, Survey, survey
from accordant.contexts import Contexts
from accordant.runs.folder import Run
from accordant.runs.scrutiny import largest_coalition
from accordant.runs.sections.paper_certificate import PaperPart, check_schema, paper_certificate
from accordant.runs.untouched_rows import contexts_of
from accordant.tables.output import write_output
from accordant.tables.text import csv_text
from accordant.unusual import Unusual, UnusualCounts

DELTA = 0.05
"""Radius that is certified if nobody says another."""
DELTAS = (0.01, 0.02, 0.05, 0.1, 0.2)  # radii at which shares are shown beside the one asked for


@dataclass(frozen=True, eq=False)
class Certified:
    """What is certified about some decisions.

    Attributes
    ----------
    origin
        Which rows they are about, in one sentence.
    survey
        Radii against every coalition.
    certificate
        What the coalition that was asked for can make win within the radius that was asked for.
    unusual, referred, fall_back
        What is unusual about each row, whether a person decides about it, and whether it gets the declared action;
        certificates are about what the rule chooses.
    paper
        The schema of the paper beside it; None if nobody asked.
    """

    origin: str
    survey: Survey
    certificate: Certificate
    unusual: Unusual
    referred: Mask
    fall_back: Mask
    paper: PaperPart | None = None

    @property
    def counts(self) -> UnusualCounts:
        """How many rows are unusual, and what happens to them whatever the rule chooses."""
        return UnusualCounts.of(self.unusual, self.referred, self.fall_back)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with one object per row."""
        deltas = sorted({*DELTAS, self.certificate.threat.delta})
        return {
            "origin": self.origin,
            **self.certificate.to_json(),
            "survey": self.survey.to_json(deltas),
            "unusual": self.counts.to_json(),
            **({} if self.paper is None else {"paper": self.paper.model_dump(mode="json")}),
            "rows": [dict(zip(self.header, row, strict=True)) for row in self.rows()],
        }

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of `rows`."""
        against = (f"radius[{', '.join(members)}]" for members in self.survey.coalitions)
        return ("row", "action", "certified", "reachable", "attainable", *against, "unusual", "referred", "fall_back")

    def rows(self) -> list[tuple[Any, ...]]:
        """Return per row: the action, whether it is certified, actions not ruled out, attained ones, radii, remarks."""
        certificate, names = self.certificate, self.certificate.expected.actions
        return [
            (
                t, names[certificate.decided[t]], bool(certificate.certified[t]),
                " | ".join(names[a] for a in np.flatnonzero(certificate.outer[:, t])),
                " | ".join(names[a] for a in np.flatnonzero(certificate.inner[:, t])),
                *("inf" if np.isinf(radius) else float(radius) for radius in self.survey.radii[:, t]),
                self.unusual.remarks[t], bool(self.referred[t]), bool(self.fall_back[t]),
            )
            for t in range(certificate.expected.n_contexts)
        ]  # fmt: skip


def certify_rows(
    run: Run,
    source: str | Path | IO[str] | None,
    *,
    delta: float,
    coalition: Sequence[str] | None = None,
    strategy: str | None = None,
    frozen: bool = False,
    data: str | None = None,
    schema: str | None = None,
) -> Certified:
    """Certify the decisions of a run.

    Parameters
    ----------
    run
        From `read_run`.
    source
        A CSV file with new rows, or an open text stream; None for the untouched rows of the run.
    delta, coalition, frozen
        See `accordant.certificates.Threat`.
    strategy
        Label of another strategy than the selected one.
    data
        Data file or folder of the run, where the untouched rows come from.
    schema
        ``paper`` for the certificate schema of the paper beside the exact one.

    Raises
    ------
    InputError
        If rows, data, strategy or threat cannot be used.
    """
    check_schema(schema)
    contexts, origin = contexts_of(run, source, data)
    return certified(
        run, contexts, origin, delta=delta, coalition=coalition, strategy=strategy, frozen=frozen, schema=schema
    )


def certified(
    run: Run,
    contexts: Contexts,
    origin: str,
    *,
    delta: float,
    coalition: Sequence[str] | None = None,
    strategy: str | None = None,
    frozen: bool = False,
    schema: str | None = None,
) -> Certified:
    """Certify the decisions of a run in some contexts, which `origin` names; see `certify_rows`."""
    policy = run.policy
    certificate = policy.certify(contexts, delta=delta, coalition=coalition, strategy=strategy, frozen=frozen)
    known = Known(policy.outcome_model_.predict(contexts), contexts=contexts)
    radii = survey(
        certificate.rule,
        certificate.expected,
        largest=largest_coalition(len(certificate.expected.stakeholders)),
        frozen=frozen,
        known=known,
    )
    paper = None if schema is None else paper_certificate(certificate)
    return Certified(origin, radii, certificate, *policy.handling_of(contexts), paper)


def write_certified(certified: Certified, out: Path) -> None:
    """Write one line per row as CSV."""
    write_output(out, csv_text(certified.header, certified.rows()))
