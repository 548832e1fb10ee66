"""`Reason`: what decided, as names and numbers, and the sentence that says it in a language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from accordant.languages import Language, language, message

SENTENCES: Mapping[str, str] = {
    # sums: who gains and who loses against the runner-up
    "no_loss": message(
        "{action}, because compared with {other} it means a gain for {gainers} and a loss for nobody who has a say."
    ),
    "uncounted": message(
        "{action}, because compared with {other} it means a gain for {gainers}, and the loss for {losers} does not "
        "count here{how}."
    ),
    "tenth": message(
        "{action}, because compared with {other} the loss for {losers} is less than a tenth of "
        "the gain for {gainers}{how}."
    ),
    "quarter": message(
        "{action}, because compared with {other} the loss for {losers} is less than a quarter of "
        "the gain for {gainers}{how}."
    ),
    "half": message(
        "{action}, because compared with {other} the loss for {losers} is less than half of the "
        "gain for {gainers}{how}."
    ),
    "smaller": message(
        "{action}, because compared with {other} the loss for {losers} is smaller than the gain for {gainers}{how}."
    ),
    # places from the worst-off
    "worst": message(
        "{action}, because whoever fares worst under it ({worst}) fares better than whoever "
        "would fare worst under {other} ({worst_other})."
    ),
    "worst_same": message(
        "{action}, because whoever fares worst either way ({worst}) fares better under it than under {other}."
    ),
    "next_worst": message(
        "{action}, because the worst-off fare alike under it and under {other}, and whoever "
        "comes next ({worst}) fares better than whoever would come next there ({worst_other})."
    ),
    "best": message(
        "{action}, because whoever fares best under it ({best}) fares better than whoever would "
        "fare best under {other} ({best_other})."
    ),
    "mixture": message(
        "{action}, because the best-off ({best}) and the worst-off ({worst}), weighed against "
        "each other, fare better under it than under {other}."
    ),
    "ranked_equal": message(
        "{action}, because what all get adds up to more than under {other} when those who fare worse count more."
    ),
    "ranked": message(
        "{action}, because what all get adds up to more than under {other} when each place from "
        "the worst-off to the best-off counts as declared."
    ),
    "enough": message(
        "{action}, because more of those who have a say get what counts as enough under it "
        "({reached}) than under {other} ({reached_other}){how}."
    ),
    # products and means between sum and worst-off
    "proportion": message(
        "{action}, because in proportion to what each would get under {other}, the gain for "
        "{gainers} is larger than the loss for {losers}{how}."
    ),
    "equivalent": message(
        "{action}, because what all get, less a deduction for inequality, comes to more than under {other}{how}."
    ),
    # gains over a starting point
    "proportion_of_gain": message(
        "{action}, because in proportion to what each would gain under {other} over {start}, "
        "there is more growth for {gainers} than decline for {losers}{how}."
    ),
    "only_gain": message(
        "{action}, because it brings everybody who has a say more than {start}, and {other} would not ({who})."
    ),
    "below_start": message("{action}, because {other} would leave somebody with less than {start} ({who})."),
    "no_agreement": message(
        "{action}, because no action brings everybody who has a say more than {start}, and none "
        "brings all together more than this one."
    ),
    "never_accepted": message(
        "{action}, because no action is accepted by everybody in the end, and none brings all "
        "together more than this one."
    ),
    "least_gain": message(
        "{action}, because whoever gains least under it over {start} ({worst}) gains more than "
        "whoever would gain least under {other} ({worst_other}){how}."
    ),
    "least_gain_same": message(
        "{action}, because whoever gains least over {start} either way ({worst}) gains more "
        "under it than under {other}{how}."
    ),
    "least_share": message(
        "{action}, because whoever gets the smallest part of their possible gain under it "
        "({worst}) gets a larger part than whoever would get the smallest under {other} "
        "({worst_other})."
    ),
    "least_share_same": message(
        "{action}, because whoever gets the smallest part of their possible gain either way "
        "({worst}) gets a larger part under it than under {other}."
    ),
    "accepted": message(
        "{action}, because it is accepted by everybody before {other} is, or at the same step "
        "with more for all, when each gives way step by step."
    ),
    # distances to what would be best
    "distance": message("{action}, because it comes closer than {other} to what would be best for each{how}."),
    "least_missed": message(
        "{action}, because whoever misses most of their best under it ({worst}) misses less than "
        "whoever would miss most under {other} ({worst_other}){how}."
    ),
    "least_missed_same": message(
        "{action}, because whoever misses most of their best either way ({worst}) misses less "
        "under it than under {other}{how}."
    ),
    # votes
    "majorities": message("{action}, because a majority prefers it to every other action, one by one{how}."),
    "firsts": message("{action}, because it gets more of the votes for first place than {other}."),
    "lasts": message("{action}, because it gets fewer of the votes for last place than {other}."),
    "points": message("{action}, because it collects more points by rank than {other}{how}."),
    "bucklin": message(
        "{action}, because it reaches a majority earlier than {other}, or a larger one at the "
        "same step, when further choices are added step by step."
    ),
    "runoff": message(
        "{action}, because it stays in longer than {other} when the action with the fewest votes "
        "for first place drops out round by round."
    ),
    "coombs": message(
        "{action}, because it stays in longer than {other} when the action with the most votes "
        "for last place drops out round by round."
    ),
    "victories": message("{action}, because it wins more votes of two, less those that it loses, than {other}."),
    "worst_defeat": message(
        "{action}, because its clearest defeat in a vote of two, if it has any, is less clear than that of {other}."
    ),
    "chains": message("{action}, because no other action beats it by a stronger chain of majorities."),
    "locked": message("{action}, because it stays on top when majorities are locked in from the largest down."),
    "agreement": message(
        "{action}, because it stands above {other} in the order of all actions that agrees most with the rankings."
    ),
    "approved": message("{action}, because more of the votes approve it than {other}."),
    "middle": message(
        "{action}, because its middle grade is higher than that of {other}, or, where these are "
        "level, the grades around the middle decide for it."
    ),
    # limits
    "only_admitted": message("{action}, because no other action keeps the declared limits."),
    "ruled_out": message(
        "{action}, because {other}, which would be chosen otherwise, does not keep the declared limits ({limits})."
    ),
    "least_unmet": message("{action}, because no action keeps the declared limits, and none comes closer to them."),
    "no_room": message("{action}, because the limits for all cases together leave no room for {other} here."),
    # rules that weigh nobody
    "only_action": message("{action}, because there is no other action."),
    "constant": message("{action}, because this rule takes it for everybody."),
    "alone": message("{action}, because this rule looks only at what is best for {who}."),
    "likeliest": message("{action}, because it belongs to the most likely outcome."),
    "good_outcome": message("{action}, because a good outcome is most likely with it."),
    "highest_level": message("{action}, because the expected outcome is highest with it."),
    "drawn": message("{action}, because actions are drawn by lot and none has a higher chance."),
    "logged": message("{action}, because it was done at the time."),
    "oracle": message("{action}, because of what really followed."),
    "decided": message("{action}, because somebody else decided so."),
    "predictor": message("{action}, because a model made elsewhere decides so."),
    # ties, and rules of others
    "level": message(
        "{action}, because {others} would be just as good by the rule, and this action brings all together more."
    ),
    "level_order": message(
        "{action}, because {others} would be just as good by the rule and for all together, and "
        "this action stands first in the list."
    ),
    "level_alone": message("{action}, because by the rule nothing is better, though {others} would be just as good."),
    "score": message("{action}, because the rule {rule} gives it a higher score than {other}."),
    "rule": message("{action}, because the rule {rule} decides so."),
}

HOW: Mapping[str, str] = {
    "together": message("taken together"),
    "weighted": message("counted by weight"),
    "relative": message("each on their own scale from worst to best"),
    "policy": message("counted so that the plan as a whole is best"),
    "declared": message("from the declared best"),
}
"""How numbers of a comparison are counted, in brackets at its end."""

STARTS: Mapping[str, str] = {
    "context": message("the worst action for each"),
    "status_quo": message("what {status_quo} would bring"),
    "global": message("the lowest that was seen for each"),
    "declared": message("the declared starting point"),
}
"""Disagreement points in words, by their mode."""

LIMITS: Mapping[str, str] = {
    "floor": message("too little for {who}"),
    "forbidden": message("forbidden in such cases"),
}
"""Why an action does not keep limits."""

NOBODY = message("nobody")


class Names(Protocol):
    """What things are called in a text."""

    def action(self, name: str) -> str:
        """Return what an action is called."""

    def mention(self, name: str) -> str:
        """Return what an action is called within a sentence."""

    def stakeholder(self, name: str) -> str:
        """Return what a stakeholder is called after "for"."""


class DeclaredNames:
    """Things are called as they were declared."""

    def action(self, name: str) -> str:
        """Return the name."""
        return name

    def mention(self, name: str) -> str:
        """Return the name."""
        return name

    def stakeholder(self, name: str) -> str:
        """Return the name."""
        return name


@dataclass(frozen=True)
class Reason:
    """What decided.

    Attributes
    ----------
    kind
        What was compared: a key of `SENTENCES`.
    action
        The decision.
    other
        The action that it is compared with; empty for none.
    who
        Stakeholders by their part in the sentence, such as ``gainers`` and ``losers``.
    words
        Other names by their part: the outcome, the rule, the mode of the starting point, level actions.
    how
        How the numbers were counted: keys of `HOW`, or of `LIMITS`.
    better, worse
        What the sentence says is larger and smaller, in the unit of the comparison; None where nothing is compared.
    """

    kind: str
    action: str
    other: str = ""
    who: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    how: tuple[str, ...] = ()
    better: float | None = None
    worse: float | None = None

    def sentence(self, spoken: Language | None = None, names: Names | None = None) -> str:
        """Return the reason in one sentence, in English and with declared names unless told otherwise."""
        spoken, names = spoken or language("en"), names or DeclaredNames()
        who = {part: [names.stakeholder(name) for name in named] for part, named in self.who.items()}
        fields = {part: spoken.listed(named) or spoken.text(NOBODY) for part, named in who.items()}
        fields |= {
            "action": names.action(self.action),
            "other": names.mention(self.other),
            "how": self._counted(spoken),
        }
        fields["limits"] = self._limits(spoken, fields.get("who", ""))
        for part, word in self.words.items():
            if part == "start":
                quo = names.mention(str(self.words.get("status_quo", "")))
                fields[part] = spoken.text(STARTS[str(word)], status_quo=quo)
            elif part == "others":
                fields[part] = spoken.listed([names.mention(action) for action in word])
            else:
                fields[part] = str(word)
        words = spoken.text(SENTENCES[self.kind], **fields)
        return words[:1].upper() + words[1:]

    def _counted(self, spoken: Language) -> str:
        counted = [spoken.text(HOW[way]) for way in self.how if way in HOW]
        return f" ({', '.join(counted)})" if counted else ""

    def _limits(self, spoken: Language, who: str) -> str:
        return ", ".join(spoken.text(LIMITS[way], who=who) for way in self.how if way in LIMITS)
