"""*May I use it?* What the record and its scope card say for and against a use; a page permits nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from accordant.naming import counted, listed
from accordant.report.distribution import rewards_by_stakeholder
from accordant.report.page import sentence, strong
from accordant.report.reading import Reading
from accordant.report.scale import number
from accordant.report.summary import Answer, Check
from accordant.runs.record import CardPart

NOT_CONSULTED = "affected-not-consulted"  # the finding of a card that its list of stakeholders tells by names
MOST_USES = 3  # uses named in a sentence


def may_be_used(reading: Reading, answer: Answer, checks: Sequence[Check]) -> Markup:
    """Return what speaks against a use first, then what the card allows, and who answers for it."""
    card = reading.record.scope
    unmet = [check.label for check in checks if check.meets is False]
    verdict, because = _verdict(reading, answer, unmet)
    told = [sentence(strong(verdict), f": {because}.")]
    if unmet and reading.record.data.simulated:
        judged = [check for check in checks if check.meets is not None]
        told.append(sentence(f"{len(unmet)} of {len(judged)} thresholds are not met: {listed(unmet)}."))
    if _below_the_log(reading):
        told.append(sentence("What was done so far gives every stakeholder more on average, which is not tested."))
    if card is not None:
        told += [sentence(words) for words in _card(card)]
    return Markup(" ").join(told)


def _verdict(reading: Reading, answer: Answer, unmet: Sequence[str]) -> tuple[str, str]:
    """Return the shortest answer, and its reason: the first that holds."""
    record = reading.record
    if record.data.simulated:
        return "Not on people", "all rows are simulated"
    if record.selected is None:
        return "No", "nothing was selected"
    if record.scope is None:
        return "Not yet", "nobody has stated what it is for, there is no scope card"
    if guessed := reading.guessed:
        return "Not yet", f"the rewards of {listed(guessed)} are guesses, and nobody stated them"
    if record.learning.effort == "quick":
        return "Not yet", "this is a quick look, for a first impression"
    line, constant = reading.selected, record.test.best_constant
    if answer.verdict:
        return "It is not needed", f"no strategy does better than the same action for everybody ({constant})"
    if line is not None and line.row.below_best_constant:
        return "It is not needed", f"the same action for everybody ({constant}) scores higher"
    if line is not None and line.row.among_best is False:
        return "Not as it stands", "another strategy is shown to score higher"
    if unmet:
        return "Not as it stands", f"the value does not meet the threshold of {listed(list(unmet))}"
    warned = f"; read the {counted(len(record.warnings), 'warning')} below first" if record.warnings else ""
    return "Only for what its card allows", f"no threshold is missed{warned}, and nothing here proves it right"


def _below_the_log(reading: Reading) -> bool:
    """Whether the mean reward of every stakeholder is written as less than under the logged actions."""
    line, logged = reading.selected, reading.registered("logged")
    means = {rule.name: [share.value for share in shares] for rule, shares in rewards_by_stakeholder(reading)}
    if line is None or logged is None:
        return False
    pairs = list(zip(means[line.name], means[logged.name], strict=True))
    return all(
        mine is not None and theirs is not None and mine < theirs and number(mine) != number(theirs)
        for mine, theirs in pairs
    )


def _card(card: CardPart) -> list[str]:
    """Return what a card allows and excludes, who was not consulted, what it leaves open, and who answers for it."""
    content: dict[str, Any] = card.model_extra or {}
    told = []
    allowed, excluded = _uses(content.get("in_scope_uses")), _uses(content.get("out_of_scope_uses"))
    if allowed:
        told.append(f"The scope card allows {allowed}" + (f", and excludes {excluded}." if excluded else "."))
    elif excluded:
        told.append(f"The scope card excludes {excluded}.")
    silent = [str(who["name"]) for who in content.get("stakeholders") or () if not who.get("consulted")]
    if silent:
        told.append(f"Not consulted: {listed(silent)}.")
    others = sum(finding.code != NOT_CONSULTED for finding in card.findings)
    if others:
        told.append(f"The card leaves {counted(others, 'point')} open.")
    if content.get("responsible_party"):
        due = f", review by {content['review_by']}" if content.get("review_by") else ""
        told.append(f"Who answers for a use: {content['responsible_party']}{due}.")
    return told


def _uses(uses: Sequence[str] | None) -> str:
    """Return uses as one phrase, the first ones if they are many."""
    named = [str(use) for use in uses or ()]
    return listed(named) if len(named) <= MOST_USES else f"{listed([*named[:MOST_USES], 'more'])}"
