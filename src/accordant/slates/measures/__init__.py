"""Numbers about slates: for each stakeholder, for all together, for users, for providers. One measure, one file."""

from __future__ import annotations

from accordant.slates.measures.measure import Goal, SlateMeasure, measures, register

create = measures.create
names = measures.names

__all__ = ["Goal", "SlateMeasure", "create", "measures", "names", "register"]
