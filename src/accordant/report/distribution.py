"""Who gets what: mean rewards per stakeholder, and what each group received."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.reading import EQUAL, Line, Reading
from accordant.runs.record import GroupRate, GroupRow


@dataclass(frozen=True)
class Share:
    """Mean realised reward of one stakeholder under one strategy; whether nobody gets less."""

    value: float | None
    worst_off: bool


@dataclass(frozen=True)
class Grouping:
    """One attribute, or a combination of attributes.

    Attributes
    ----------
    labels, names
        Groups as in the record and in words.
    """

    attributes: tuple[str, ...]  # columns
    labels: list[str]
    names: list[str]
    sizes: list[int]  # contexts in each group
    rows: dict[str, dict[str, GroupRow]]  # strategy to group label to its row of the record

    @property
    def title(self) -> str:
        """The attributes in one phrase."""
        return " × ".join(self.attributes)

    def values(self, stakeholder: str | None) -> dict[str, dict[str, float | None]]:
        """Return strategy → group in words → mean reward of a stakeholder.

        None as stakeholder stands for the share of favourable actions.
        """
        return {
            strategy: {
                name: rows[label].favourable_share if stakeholder is None else rows[label].mean_rewards[stakeholder]
                for label, name in zip(self.labels, self.names, strict=True)
            }
            for strategy, rows in self.rows.items()
        }


def groupings(reading: Reading) -> tuple[Grouping, ...]:
    """Return every grouping of the record."""
    groupings = []
    for table in reading.record.groups:
        rows: dict[str, dict[str, GroupRow]] = {}
        for row in table.rows:
            rows.setdefault(row.strategy, {})[row.group] = row
        first = next(iter(rows.values()))
        names = [reading.group_name(table.attributes, label) for label in first]
        groupings.append(Grouping(table.attributes, list(first), names, [row.n for row in first.values()], rows))
    return tuple(groupings)


@dataclass(frozen=True)
class Rate:
    """A rate of the selected strategy in one group, as a group metric compares it."""

    metric: str
    rate: str
    group: str
    estimate: GroupRate
    n: float | None


def rates_behind_metrics(reading: Reading) -> tuple[Rate, ...]:
    """Return the rates in each group that the group metrics of the selected strategy are made of."""
    line = reading.selected
    rates = []
    for column in reading.columns if line else []:
        label = column.label
        declared = reading.record.case.metrics.get(label)
        attributes = declared.parameters.get("attributes", ()) if declared else ()
        for group in line.row.metrics[label].by_group if line else []:
            name = reading.group_name(attributes, group.group)
            rates.append(Rate(label, group.rate.replace("_", " "), name, group, group.n))
    return tuple(rates)


def rewards_by_stakeholder(reading: Reading) -> list[tuple[Line, list[Share]]]:
    """Return the mean reward of every stakeholder under every strategy, the smallest marked.

    Stakeholders with weight 0 have no claim in weighted rules and are never marked as worst off.
    """
    names = [stakeholder.name for stakeholder in reading.stakeholders]
    weights = {stakeholder.name: stakeholder.weight for stakeholder in reading.stakeholders}
    rows = []
    for line in reading.lines:
        means = [_mean(reading, line, name) for name in names]
        counted = [mean for name, mean in zip(names, means, strict=True) if weights[name] > 0 and mean is not None]
        least = min(counted, default=None)
        shares = []
        for name, mean in zip(names, means, strict=True):
            worst = weights[name] > 0 and mean is not None and least is not None and mean - least <= EQUAL
            shares.append(Share(mean, worst))
        rows.append((line, shares))
    return rows


def _mean(reading: Reading, line: Line, stakeholder: str) -> float | None:
    """Return the mean over groups weighted by their sizes; without groups, the metric that says the same."""
    tables = reading.record.groups
    if tables:
        rows = [row for row in tables[0].rows if row.strategy == line.name and row.n > 0]
        total = sum(row.n for row in rows)
        return sum(row.n * (row.mean_rewards[stakeholder] or 0.0) for row in rows) / total if total else None
    for label, metric in reading.record.case.metrics.items():
        if metric.metric == "stakeholder_reward" and metric.parameters.get("stakeholder") == stakeholder:
            return line.value(label)
    return None
