"""What a rule agent answers on each disputed patient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.agents.moves import Answering
from accordant.allocations import Allocation
from accordant.arrays import Values

NOTHING = 1e-9  # a share up to here, or a difference of shares up to here, is rounding

KEEPING = ("maintain", "justify")  # answers that stand by one's own claim


@dataclass(frozen=True)
class Stand:
    """An answer on one patient, and the patient it is compared with.

    Attributes
    ----------
    kind
        See `accordant.agents.moves.Reply`.
    against
        Position of the patient whose claim is compared: for a challenge, one to whom oneself grants more than another
        agent does; for a justification, one to whom another agent grants more. None if nobody is compared.
    """

    kind: Answering
    against: int | None = None


def contradiction(patient: str, kind: Answering, before: Allocation, after: Allocation) -> str | None:
    """Return in which way an answer and the proposal that comes with it contradict each other, or None.

    Parameters
    ----------
    patient
        Id.
    kind
        What was answered on that patient.
    before, after
        What oneself proposed until then, and proposes now.
    """
    place = after.scenario.index(patient)
    was, now = float(before.shares[place]), float(after.shares[place])
    if kind == "concede" and abs(was - now) <= NOTHING:
        return f"patient {patient!r} was conceded and still gets {now:.0%}"
    if kind in KEEPING and was > NOTHING >= now:
        return f"patient {patient!r} got {was:.0%} and is dropped, but the answer is {kind!r}; allowed: 'concede'"
    return None


def stand(patient: int, values: Values, before: Values, after: Values, others: Values) -> Stand:
    """Return the answer on a disputed patient.

    ``concede`` drops one's own claim or takes up another's, ``revise`` changes the share otherwise. A share that stays
    is defended by the closest comparison of values there is: ``challenge`` where somebody to whom another agent grants
    less has at least the value of the patient, ``justify`` where the patient has at least the value of somebody to
    whom another agent grants more, or where there is nobody such. Without a comparison that speaks for it,
    ``maintain``. Equally close ones: the lower id.

    Parameters
    ----------
    patient
        Position.
    values
        What granting each patient is worth to oneself, shape (patient,).
    before, after
        Shares of one's own proposal before and after revision, shape (patient,).
    others
        Shares of the others' proposals, shape (agent, patient).
    """
    was, now = before[patient], after[patient]
    if abs(was - now) > NOTHING:
        dropped = now <= NOTHING
        taken_up = bool((np.abs(others[:, patient] - now) <= NOTHING).any())
        return Stand("concede" if dropped or taken_up else "revise")
    if now > NOTHING:
        wanted = np.asarray((others > after + NOTHING).any(axis=0))
        wanted[patient] = False
        if not wanted.any():
            return Stand("justify")
        below = np.flatnonzero(wanted & (values <= values[patient]))
        return Stand("justify", int(below[np.argmax(values[below])])) if len(below) else Stand("maintain")
    kept = (after > NOTHING) & (others < after - NOTHING).any(axis=0)
    above = np.flatnonzero(kept & (values >= values[patient]))
    return Stand("challenge", int(above[np.argmin(values[above])])) if len(above) else Stand("maintain")
