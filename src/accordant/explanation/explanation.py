"""`Explanation`: what was found about one decision, with sentences that say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accordant.explanation.result import Findings
from accordant.explanation.wording import sentences_by_topic


@dataclass(frozen=True)
class Explanation(Findings):
    """Why one decision was taken and what would have changed it; see `Findings` for its attributes."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with the sentences by topic; what is not a finite number is null."""
        return {**self.values(), "sentences": {topic: list(said) for topic, said in self.by_topic().items()}}

    def by_topic(self) -> dict[str, tuple[str, ...]]:
        """Return plain sentences by topic: what decides, what was traded off, what would change it, how sure."""
        return sentences_by_topic(self)

    def sentences(self) -> tuple[str, ...]:
        """Return the explanation in plain words; every number is one of `values`."""
        return tuple(sentence for said in self.by_topic().values() for sentence in said)
