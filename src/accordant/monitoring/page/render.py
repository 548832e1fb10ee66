"""From the result to one HTML file."""

from __future__ import annotations

from accordant.monitoring.families import ADVICE, MEANINGS, TITLES, evidence_words, families
from accordant.monitoring.page.charts import HIGHEST, evidence_chart, reward_charts
from accordant.monitoring.result import Monitored
from accordant.naming import counted
from accordant.report.page import Page


def render_monitored(result: Monitored) -> str:
    """Return the page: the answer, evidence over time, what stakeholders got, everything that was watched.

    Nothing but the result is read, so the same result gives the same bytes.
    """
    return PAGE.render(
        "monitor.html",
        result=result,
        evidence=evidence_chart(result),
        rewards=reward_charts(result.rewards),
        groups=[reward for reward in result.rewards if reward.group],
        families=families(result.measures),
        advised=list(dict.fromkeys(alarm.family for alarm in result.alarms)),
    )


PAGE = Page(
    "accordant.monitoring.page", "monitor.css",
    filters={"evidence": evidence_words, "counted": counted},
    names={"TITLES": TITLES, "MEANINGS": MEANINGS, "ADVICE": ADVICE, "HIGHEST": HIGHEST},
)  # fmt: skip
