"""`PersonExplanation`: a decision explained to the person whom it is about, in plain words and in a language.

It says what was decided, the reason in one sentence, what would change it, who wanted what, how sure this is, and how
to object. No number stands in the unit of a rule: chances are calibrated ones, out of 100 people, and everything else
is a value of the person or a word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from accordant.explanation.contexts import Difference
from accordant.explanation.labels import LabelledNames, Labels
from accordant.explanation.person import Person, Trait
from accordant.explanation.person_explanation import Addressee, Known, PersonExplanation, Wish
from accordant.explanation.recourse import UNDECLARED, Change
from accordant.explanation.result import Findings
from accordant.languages import Language, language, message

VERY_CLOSE, CLOSE = 0.01, 0.05
"""Radii of E, from 0 to 1, below which a decision was very close and close: the smallest error that would turn it."""
NEARLY = 0.1  # of the distance between one's worst and best action: this near to an end counts as nearly there
RARE = 0.05  # share of rows below which a value is unusual
MOST_TRAITS, MOST_CHANGES, MOST_WISHES = 12, 3, 8  # what fits one page

DECIDED = {
    "rule": message("The decision is: {action}."),
    "drawn": message("The decision is: {action}. It was drawn by lot. The chance for this was about {chance} in 100."),
    "referred": message("There is no decision yet. A person will decide, because some facts about you are unusual."),
    "fall_back": message("The decision is: {action}. It is always taken when facts are as unusual as here."),
    "adopted": message("The decision is: {action}. People talked it over and chose it. Their reason: {why}"),
}
PLACES = {
    "best": message("the best of all"),
    "high": message("nearly the best"),
    "middle": message("in between"),
    "low": message("nearly the worst"),
    "worst": message("the worst of all"),
    "same": message("all the same"),
}


def for_person(explained: Findings, addressee: Addressee | None = None, *, code: str = "en") -> PersonExplanation:
    """Return one decision explained to the person whom it is about.

    Parameters
    ----------
    explained
        From `accordant.FittedPolicy.explain`, or from `explain` (then without facts, chances and changes).
    addressee
        Words of the case; None for declared names.
    code
        Of the language.

    Raises
    ------
    UnknownNameError
        If no such language is shipped.
    """
    return _Letter(explained, addressee or Addressee(), language(code)).written()


class _Letter:
    """The parts of one letter, each in sentences."""

    def __init__(self, explained: Findings, addressee: Addressee, spoken: Language) -> None:
        self.explained, self.to, self.spoken = explained, addressee, spoken
        self.labels = addressee.labels.get(spoken.code, Labels())
        self.names = LabelledNames(self.labels, spoken, addressee.person)
        self.say = spoken.text

    @property
    def person(self) -> Person | None:
        """The person, if a policy told."""
        return self.explained.person

    @property
    def action(self) -> str:
        """What is done; empty if somebody is still to decide."""
        return self.explained.choice.action if self.person is None else self.person.action

    @property
    def by_rule(self) -> bool:
        """Whether the rule's choice is what is done."""
        return self.person is None or self.person.settled == "rule"

    def written(self) -> PersonExplanation:
        """Return the letter."""
        reason = self.explained.reason.sentence(self.spoken, self.names) if self.by_rule else ""
        return PersonExplanation(
            language=self.spoken.code,
            title=self.labels.title or self.to.title,
            decision=self.names.action(self.action) if self.action else "",
            decided=self.decided(),
            reason=reason,
            expected=tuple(self.expected()),
            changes=tuple(self.changes()),
            wishes=tuple(self.wishes()),
            sure=tuple(self.sure()),
            known=tuple(self.known()),
            objection=tuple(self.objection()),
            source=self.say(message("{source}, row {row}"), source=self.to.source, row=self.explained.row)
            if self.to.source
            else "",
        )

    def decided(self) -> str:
        """Say what is done, and how that was settled."""
        who = self.person
        chance = "" if who is None or who.chance is None else str(_of_100(who.chance))
        words = DECIDED["rule" if who is None else who.settled]
        why = "" if who is None else who.why
        return self.say(words, action=self.names.action(self.action), chance=chance, why=why)

    def expected(self) -> list[str]:
        """Say what is likely to follow from what is done."""
        if self.person is None or not self.action:
            return []
        forecast, a = self.person.forecast, self.explained.actions.index(self.action)
        if forecast.means is not None:
            return [self._level(a)]
        if forecast.probabilities is None:
            return [
                self.say(message("We do not give chances here. The forecast was not checked well enough for that."))
            ]
        likely = [
            self.say(message("{outcome}: about {count}"), outcome=self.names.outcome(name), count=count)
            for name, count in zip(forecast.outcomes, _shared_100(forecast.probabilities[a]), strict=True)
        ]
        words = message(
            "Think of 100 people with facts like yours, and the same decision. This is what we expect: {likely}."
        )
        return [self.say(words, likely="; ".join(likely))]

    def _level(self, action: int) -> str:
        assert self.person is not None
        forecast = self.person.forecast
        assert forecast.means is not None
        name, unit = self.names.outcome(forecast.name), self.names.outcome(forecast.unit)
        digits = 1 if abs(forecast.means[action]) < 100 else 0
        mean = self.spoken.number(forecast.means[action], digits)
        if forecast.low is None or forecast.high is None or forecast.level is None:
            return self.say(
                message("We expect this on average for people like you: {name} {mean} {unit}."),
                name=name,
                mean=mean,
                unit=unit,
            ).replace(" .", ".")
        ends = [self.spoken.number(limit[action], digits) for limit in (forecast.low, forecast.high)]
        words = message(
            "On average we expect for people like you: {name} {mean} {unit}. For {count} in 100 of "
            "them it will be from {low} to {high}."
        )
        return self.say(
            words, name=name, mean=mean, unit=unit, count=_of_100(forecast.level), low=ends[0], high=ends[1]
        ).replace(" .", ".")

    def changes(self) -> list[str]:
        """Say what would change the decision; nothing is said that was not decided again."""
        recourse = self.explained.recourse
        if not self.by_rule or recourse is None:
            return [self.say(message("We did not look for what would change the decision."))]
        if recourse.reason == UNDECLARED:
            return [
                self.say(
                    message("It was not stated which of the facts you can change. So we did not look for changes.")
                )
            ]
        if recourse.reason:
            return [self.say(message("We cannot say what would change the decision in your case."))]
        wanted = [change for change in recourse.changes if self._better(change.action)]
        if not self.explained.comparisons or self._content():
            return [self.say(message("No other decision would be better for you. So we list no changes."))]
        columns = self.spoken.listed([self.names.column(name) for name in recourse.changeable])
        if not wanted:
            words = message(
                "We looked at what you can change ({columns}). No change that is common enough would "
                "lead to a decision that is better for you."
            )
            return [self.say(words, columns=columns)]
        said = [self._change(change) for change in wanted[:MOST_CHANGES]]
        return [
            *said,
            self.say(
                message(
                    "All else must stay the same. We tried each change with the same rule. The rule may be "
                    "different later."
                )
            ),
        ]

    def _change(self, change: Change) -> str:
        parts = [self._difference(difference) for difference in change.differences]
        words = message("The decision would be {action} with these changes: {changes}.")
        return self.say(words, action=self.names.mention(change.action), changes="; ".join(parts))

    def _difference(self, difference: Difference) -> str:
        name, here, there = difference.feature, difference.here, difference.there
        values = [self.names.value(name, value) for value in (there, here)]
        return self.say(
            message("{name} {there} (now {here})"), name=self.names.column(name), there=values[0], here=values[1]
        )

    def _better(self, action: str) -> bool:
        """Whether an action is better for the person, as far as the case tells."""
        if self.to.person in self.explained.stakeholders:
            rewards = self._rewards(self.to.person)
            return rewards[self.explained.actions.index(action)] > rewards[self.explained.actions.index(self.action)]
        return not self.to.favourable or action in self.to.favourable

    def _content(self) -> bool:
        return not any(self._better(name) for name in self.explained.actions if name != self.action)

    def _rewards(self, who: str) -> tuple[float, ...]:
        return self.explained.expected[self.explained.stakeholders.index(who)]

    def wishes(self) -> list[Wish]:
        """Say what would be best for each, and where the decision stands for them."""
        wishes = []
        order = sorted(self.explained.favourites, key=lambda other: other.who != self.to.person)
        for favourite in order[:MOST_WISHES]:
            place = self.say(PLACES[self._place(favourite.who)]) if self.action else ""
            best = self.spoken.listed([self.names.action(name) for name in favourite.equals])
            everything = len(favourite.equals) == len(self.explained.actions) > 1
            name = self.names.stakeholder(favourite.who)
            who = name[:1].upper() + name[1:]
            wishes.append(Wish(who=who, best=self.say(PLACES["same"]) if everything else best, decision=place))
        return wishes + [Wish(who=more, best="", decision="") for more in self._more(len(order) - MOST_WISHES)]

    def _more(self, count: int) -> list[str]:
        """Say that there are more than fit one page."""
        return [self.say(message("and {count} more"), count=count)] if count > 0 else []

    def _place(self, who: str) -> str:
        rewards = np.array(self._rewards(who))
        low, high, here = rewards.min(), rewards.max(), rewards[self.explained.actions.index(self.action)]
        if high - low <= 1e-12:
            return "same"
        share = (here - low) / (high - low)
        if share in (0.0, 1.0):
            return "best" if share else "worst"
        return "high" if share >= 1 - NEARLY else "low" if share <= NEARLY else "middle"

    def sure(self) -> list[str]:
        """Say how close the decision was, what is unusual, and whether the data were made up."""
        said = []
        if self.to.simulated:
            said.append(self.say(message("The rule was learned from made-up data. It must not decide about people.")))
        if self.person is not None and self.person.unusual:
            said.append(self.say(message("Some facts about you are unusual. The forecast may fit you less well.")))
        if not self.by_rule:
            return said
        return [*said, self.say(self._close())]

    def _close(self) -> str:
        everybody = self.explained.misreports[0]
        if everybody.never:
            return message(
                "This rule does not weigh what people want. So no other wish would have changed the decision."
            )
        if everybody.safe is None:
            return message(
                "The decision depends on the other people who were decided about at the same time. We "
                "did not measure how close it was."
            )
        if self.explained.choice.tied or everybody.at_once:
            return message("This was as close as can be. Another decision was just as good by the rule.")
        if everybody.nothing_certified:
            return message("We could not measure how close this decision was.")
        if everybody.safe < VERY_CLOSE:
            return message(
                "This was very close. Very small errors in our forecasts could have led to another decision."
            )
        if everybody.safe < CLOSE:
            return message("This was close. Small errors in our forecasts could have led to another decision.")
        return message("This was not close. Small errors in our forecasts would not have changed the decision.")

    def known(self) -> list[Known]:
        """Say which facts were used, and how usual they are."""
        traits = () if self.person is None else self.person.traits
        facts = [
            Known(
                name=self.names.column(trait.feature),
                value=self.names.value(trait.feature, trait.value),
                usual=self.usual(trait),
            )
            for trait in traits[:MOST_TRAITS]
        ]
        return facts + [Known(name=more, value="", usual="") for more in self._more(len(traits) - MOST_TRAITS)]

    def usual(self, trait: Trait) -> str:
        """Say how usual a value is among training rows."""
        if trait.below is None or trait.value is None:
            if trait.same == 0:
                return self.say(message("nobody else has this"))
            return self.say(message("{count} in 100 have this"), count=_of_100(trait.same))
        if trait.same >= RARE:
            return self.say(message("{count} in 100 have this"), count=_of_100(trait.same))
        if trait.below + trait.same / 2 >= 1 - RARE:
            return self.say(message("high: {count} in 100 have less"), count=_of_100(trait.below))
        if trait.below + trait.same / 2 <= RARE:
            return self.say(message("low: {count} in 100 have more"), count=_of_100(1.0 - trait.below - trait.same))
        return self.say(message("{count} in 100 have less"), count=_of_100(trait.below))

    def objection(self) -> list[str]:
        """Say how to object."""
        route = self.labels.appeal_route or self.to.appeal_route
        party = self.labels.responsible_party or self.to.responsible_party
        said = (
            [_sentence(route)]
            if route
            else [self.say(message("No way to object was stated. Ask whoever gave you this letter."))]
        )
        if party:
            said.append(self.say(message("Who answers for the decision: {party}."), party=party.rstrip(".")))
        return said


def _sentence(words: str) -> str:
    text = words.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def _shared_100(shares: Sequence[float]) -> list[str]:
    """Return shares of a whole as numbers out of 100: the largest rests are rounded up until they add up.

    Of equal rests that of the larger share is. Equal shares are told as equal, even where the numbers then add up to
    less.
    """
    counts = [int(100 * share) for share in shares]
    left, equal = 100 - sum(counts), defaultdict[float, list[int]](list)
    for k, share in enumerate(shares):
        equal[round(share, 9)].append(k)
    for share in sorted(equal, key=lambda share: (round(int(100 * share) - 100 * share, 6), -share)):
        members = equal[share]
        if len(members) > left:
            break
        left -= len(members)
        for k in members:
            counts[k] += 1
    return [_out_of_100(count, share) for count, share in zip(counts, shares, strict=True)]


def _of_100(share: float) -> str:
    """Return a share as a number out of 100."""
    return _out_of_100(round(100 * share), share)


def _out_of_100(count: int, share: float) -> str:
    """Return a count in words; what is neither none nor all is not rounded to it."""
    if count == 0 and share > 0:
        return "<1"
    return ">99" if count == 100 and share < 1 else str(count)
