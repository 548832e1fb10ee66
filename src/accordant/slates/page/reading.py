"""Reading the result of slates: rules in one order, the marked ones among them, and what each stakeholder attains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from accordant.naming import listed
from accordant.report.reading import Json, Line, Listing
from accordant.report.scale import Cell, count, interval, number, percent
from accordant.runs.record import Column, Row
from accordant.slates.evaluation.front import FrontRow
from accordant.slates.result import RuleResult, SlateResult

# kind of rule → (mark in tables and charts, words for the legend)
KINDS = {
    "welfare": ("diamond", "chooses a list by a welfare of everybody"),
    "approval": ("triangle", "chooses a list by approvals"),
    "per item": ("circle", "scores item by item"),
    "moderation": ("hexagon", "moderates lists that stakeholders propose"),
    "dynamic": ("open-triangle", "hears whoever is behind so far"),
    "consumption": ("star", "weighs relevance against diversity"),
    "baseline": ("square", "one stakeholder alone, or a draw"),
    "other": ("cross", "another kind"),
}
DRAWN = "random_slate"  # the rule that draws its lists
FOLD = 15  # rows of a table of rules that stand unfolded
BEST = 10  # rules whose gains stand unfolded, beside baselines


@dataclass(frozen=True)
class RuleLine(Line):
    """One rule of the leaderboard, with its object in the list of rules and on the front.

    `roles` say why it is marked: reference, chosen, first, drawn; empty for most.
    """

    rule: RuleResult
    standing: FrontRow
    roles: tuple[str, ...]

    @property
    def mark(self) -> str:
        """Shape that stands for the kind."""
        return KINDS[self.family][0]

    @property
    def fill(self) -> str:
        """Class of the mark: full unless another rule dominates, or a value is missing."""
        return "full" if self.standing.on_front else "dominated"

    @property
    def words(self) -> str:
        """Name with its position, as drawings call it."""
        return f"{self.position}. {self.name}"


class MeasureColumn(Column):
    """A measure of lists as a column: which one, and its parameters."""

    measure: str
    parameters: Json


@dataclass(frozen=True)
class SlateReading(Listing):
    """The result, and the questions that several sections ask of it."""

    content: Json

    @cached_property
    def result(self) -> SlateResult:
        """The typed result."""
        return SlateResult.read(self.content)

    @cached_property
    def lines(self) -> tuple[RuleLine, ...]:
        """Candidates in order of their score, then the lines that cannot win."""
        rows = sorted((Row(**row) for row in self.result.leaderboard), key=lambda row: not row.candidate)
        rules = {rule.label: rule for rule in self.result.rules}
        standings = {row.rule: row for row in self.result.front.rows}
        return tuple(
            RuleLine(
                row.strategy, row.kind, row.kind if row.kind in KINDS else "other", row.candidate,
                row.strategy == self._chosen, rules[row.strategy].note, position, row,
                rules[row.strategy], standings[row.strategy], self._roles(row.strategy),
            )
            for position, row in enumerate(rows, 1)
        )  # fmt: skip

    @cached_property
    def columns(self) -> tuple[MeasureColumn, ...]:
        """All measures."""
        return tuple(MeasureColumn(**column) for column in self.result.columns)

    @property
    def level(self) -> str:
        """Confidence level of every interval."""
        return percent(self.result.level)

    @property
    def stakeholders(self) -> list[Json]:
        """Stakeholders as declared."""
        return list(self.result.stakeholders)

    @property
    def families(self) -> list[str]:
        """Kinds of rules that occur, in the order of `KINDS`."""
        return [family for family in KINDS if any(line.family == family for line in self.lines)]

    @cached_property
    def marked(self) -> tuple[RuleLine, ...]:
        """Reference, chosen, first and drawn rule, as far as there are such, each once."""
        order = (self.reference, self._chosen, self._first, self._drawn)
        by_name = {line.name: line for line in self.lines}
        return tuple(by_name[name] for name in dict.fromkeys(order) if name in by_name)

    @cached_property
    def compared(self) -> tuple[RuleLine, ...]:
        """The rules of pictures side by side: the reference and the chosen one, or as far as there are such, others."""
        beside = self._chosen or self._first
        wanted = [name for name in (self.reference, beside, self._drawn) if name is not None]
        return tuple(line for name in list(dict.fromkeys(wanted))[:2] for line in self.lines if line.name == name)

    @cached_property
    def watched(self) -> tuple[RuleLine, ...]:
        """Rules whose robustness was measured."""
        return tuple(line for line in self.lines if line.rule.stability or line.rule.manipulability)

    @property
    def reference(self) -> str | None:
        """The rule that others are compared with: the list of the user alone."""
        prices = self.result.prices
        return None if prices is None else prices.reference

    def column(self, label: str) -> MeasureColumn | None:
        """Return a measure by its label."""
        return next((column for column in self.columns if column.label == label), None)

    def folded(self, lines: Sequence[RuleLine], first: int = FOLD) -> tuple[list[RuleLine], list[RuleLine]]:
        """Return lines that stand unfolded, the first and the marked ones, and the others."""
        if len(lines) <= first + 2:  # folding one or two rows saves nothing
            return list(lines), []
        shown = [line for place, line in enumerate(lines) if place < first or line.roles]
        kept = {line.position for line in shown}
        return shown, [line for line in lines if line.position not in kept]

    def attained(self, line: RuleLine, stakeholder: str) -> tuple[float | None, Cell]:
        """Return the mean of what a stakeholder attains, as a number and as a cell."""
        label = self._attained_label(stakeholder)
        if label is not None:
            cell = line.row.metrics[label]
            return cell.value, Cell(number(cell.value), interval(cell.low, cell.high))
        past = line.rule.over_time
        if stakeholder not in past.stakeholders or not past.days:
            return None, Cell(number(None))
        last = past.attained[past.stakeholders.index(stakeholder)][-1]
        return last, Cell(number(last))

    def called(self, label: str) -> str:
        """Return what a measure is about, in words where its label may say too little."""
        column = self.column(label)
        if column is not None and column.measure == "attained":
            return f"what {column.parameters['stakeholder']} attains"
        if column is not None and column.measure == "worst_off":
            return "what the worst-off attains"
        return f"“{label}”"

    def called_all(self, labels: Sequence[str]) -> str:
        """Return what some measures are about, in one phrase."""
        return listed([self.called(label) for label in labels])

    @property
    def floored(self) -> bool:
        """Whether stakeholders declared floors for lists."""
        return any(line.rule.floor_unmet is not None for line in self.lines)

    def _attained_label(self, stakeholder: str) -> str | None:
        """Return the label of the measure of what a stakeholder attains; None if it is not among them."""
        columns = (column for column in self.columns if column.measure == "attained")
        return next((column.label for column in columns if column.parameters["stakeholder"] == stakeholder), None)

    @property
    def _chosen(self) -> str | None:
        trial = self.result.trial
        return None if trial is None else trial.chosen

    @property
    def _first(self) -> str | None:
        ranked = [row for row in self.result.leaderboard if row["candidate"] and row["score"]["value"] is not None]
        return str(ranked[0]["strategy"]) if ranked else None

    @property
    def _drawn(self) -> str | None:
        return next((row.label for row in self.result.rules if row.label.startswith(DRAWN)), None)

    def _roles(self, name: str) -> tuple[str, ...]:
        known = {
            "reference": self.reference,
            "chosen": self._chosen,
            "first": self._first,
            "drawn at random": self._drawn,
        }
        return tuple(role for role, holder in known.items() if holder == name)


def role_words(line: RuleLine, user: str | None) -> str:
    """Return why a rule is marked, in words; its kind where it is not."""
    words = {
        "reference": f"the reference: the list of {user} alone",
        "chosen": "chosen on the earlier requests",
        "first": "first on the leaderboard",
        "drawn at random": "lists drawn at random",
    }
    return listed([words[role] for role in line.roles]) or line.kind


def in_words(value: object) -> str:
    """Return a number, a truth value, a text, or several of them in words; None and what is empty is ``none``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{str(key).replace('_', ' ')} {in_words(part)}" for key, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        return "; ".join(map(in_words, value)) or "none"
    return "none" if value is None else str(value)


def sentence(words: str) -> str:
    """Return words with a capital at the beginning and a full stop at the end."""
    return f"{words[:1].upper()}{words[1:]}{'' if words[-1:] in ('.', '!', '?', '') else '.'}"
