"""Carrying out dialogues on why a run decides as it does: the strategy answers, stakeholders ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from accordant import __version__
from accordant.deliberation.decision.contrast import PREFER, Contrast, contrast
from accordant.deliberation.decision.dialogue_result import DecisionDialogue, HeldDialogue, Said
from accordant.deliberation.decision.opened_decision import OpenedDecision
from accordant.deliberation.decision.section import debated_row, header, unusual_words
from accordant.deliberation.dialogue import Argument, Dialogue, Move, reconcile
from accordant.deliberation.dialogue.policies import POLICIES, Policy
from accordant.errors import InputError, UnknownNameError
from accordant.explanation import Explanation
from accordant.explanation.counterfactual_sentences import would_change
from accordant.naming import Named, listed

ANSWERS = "steadfast"  # the policy of who speaks for the strategy: a decision on record is not given up
ASKS = "weighing"  # the policy of who asks, unless another is named
PERSON = "human"
POLICY = "policy"  # the only parameter of who asks

Person = Callable[[Contrast], Policy]
"""From what a dialogue is about to the policy that asks a person for every move."""
Watch = Callable[[HeldDialogue], None]


def dialogue_on_decision(
    opened: OpenedDecision, *, person: Person | None = None, watch: Watch | None = None
) -> DecisionDialogue:
    """Let stakeholders ask why the run decides as it does for one row.

    Parameters
    ----------
    opened
        Run, row, and who asks: ``options.agents``, or all stakeholders with positive weight.
    person
        Makes the policy of stakeholders for whom a person speaks; needed if one does.
    watch
        Called with each dialogue when it is over.

    Raises
    ------
    InputError
        If options do not go together, there is a single action, or somebody asks twice.
    UnknownNameError
        If a stakeholder, a parameter or a policy does not exist.
    """
    asking = asking_in(opened)
    run, row = opened.run, opened.options.rows[0]
    (explained,) = run.policy.explain(opened.batch, rows=[row])
    weights = run.case.problem.weights.tolist()
    changes = _changes(explained, list(asking))
    dialogues = []
    for who, policy in asking.items():
        held = _held(contrast(explained, who, weights), policy, opened.options.seed, person, changes[who])
        dialogues.append(held)
        if watch is not None:
            watch(held)
    return DecisionDialogue.read({
        "accordant": __version__, "run": header(opened), "source": opened.source, "file": opened.file,
        "seed": opened.options.seed, "options": opened.options, "stakeholders": opened.expected.stakeholders,
        "actions": opened.expected.actions, "with_weight": opened.with_weight,
        "row": debated_row(opened, 0, explained.choice.action), "dialogues": tuple(dialogues),
        "would_change": changes[""], "warnings": _warnings(opened, explained, list(asking)),
    })  # fmt: skip


def asking_in(opened: OpenedDecision) -> dict[str, str]:
    """Return who asks, with the name of its policy; see `dialogue_on_decision` for what is refused."""
    options, names = opened.options, opened.expected.stakeholders
    idle = {"--settle": options.settle, "--grant": options.grant, "--llm": options.model}
    for flag, value in idle.items():
        if value is not None:
            raise InputError(f"{flag} has no effect on --protocol dialogue, in which a strategy gives its reasons")
    if len(opened.expected.actions) < 2:
        raise InputError(f"{opened.expected.actions[0]} is the only action: nobody can ask why no other was taken")
    asking: dict[str, str] = {}
    for agent in options.agents or tuple(Named(who, {}) for who in opened.with_weight):
        if agent.name not in names:
            raise UnknownNameError("stakeholder of --agents", agent.name, names)
        if agent.name in asking:
            raise InputError(f"--agents names {agent.name!r} twice; allowed: each stakeholder once")
        for parameter in agent.parameters:
            if parameter != POLICY:
                raise UnknownNameError(f"parameter of {agent.name}", parameter, [POLICY])
        asking[agent.name] = str(agent.parameters.get(POLICY, ASKS))
        if asking[agent.name] not in (*POLICIES, PERSON):
            raise UnknownNameError(f"policy of {agent.name}", asking[agent.name], [*POLICIES, PERSON])
    return asking


def _held(
    about: Contrast, policy: str, seed: int, person: Person | None, would_change: tuple[str, ...]
) -> HeldDialogue:
    if policy == PERSON and person is None:
        raise InputError(f"a person speaks for {about.who}, and nobody is there to be asked")
    asks = person(about) if policy == PERSON and person is not None else policy
    held = reconcile(about.explainer, about.explainee, PREFER, policies=(ANSWERS, asks), seed=seed)
    words = {str(formula): said for formula, said in about.words.items()}
    return HeldDialogue(
        who=about.who,
        policy=policy,
        other=about.other,
        moves=tuple(_said(held, about, time) for time in range(1, len(held.state.moves) + 1)),
        understood=held.ending == "understood",
        ending=held.ending,
        outcomes=held.outcomes,
        known_before=len(held.before.known),
        known_after=len(held.after.known),
        reasons=len(held.after.known) + len(held.after.missing),
        unknown=tuple(words[reason] for reason in held.after.missing),
        would_change=would_change,
        words=words,
        hash=held.hash,
    )


def _said(held: Dialogue, about: Contrast, time: int) -> Said:
    move = held.state.moves[time - 1]
    revision = held.state.revisions.get(time)
    return Said(
        time=time,
        speaker=about.who if move.speaker == "explainee" else about.rule,
        locution=move.locution,
        words=move_words(about, move),
        because=because(about, move),
        gives_up=() if revision is None else tuple(about.words[formula] for formula in revision.dropped),
        formula=str(move.content),
        target=move.target,
    )


def because(about: Contrast, move: Move) -> tuple[str, ...]:
    """Return the premises of an argument in words, facts before rules; none where it says what it rests on."""
    if not isinstance(move.content, Argument) or move.content.premises == (move.content.conclusion,):
        return ()
    return tuple(
        about.words[premise] for premise in sorted(move.content.premises, key=lambda premise: len(premise.body) > 0)
    )


WHY = "asks: why {}?"  # the first move
SAYS = {
    "query": "asks what shows this: {}", "support": "says: {}", "refute": "objects: {}", "concede": "accepts: {}",
    "agree_to_disagree": "leaves open: {}", "understand": "understands: {}",
}  # fmt: skip
REPLIES = SAYS | {  # of who speaks for the strategy
    "support": "answers: {}", "refute": "replies: {}", "concede": "grants: {}",
}  # fmt: skip


def move_words(about: Contrast, move: Move) -> str:
    """Return what a move does and says, without premises."""
    content = move.content.conclusion if isinstance(move.content, Argument) else move.content
    says = SAYS if move.speaker == "explainee" else REPLIES
    return (WHY if move.target is None else says[move.locution]).format(about.words[content])


def _changes(explained: Explanation, asking: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what would have changed the decision: stakeholder to sentences, and those on everybody by the empty name.

    Sentences that would stand with each of several stakeholders are on everybody.
    """
    own = {who: would_change(_concerning(explained, who)) for who in asking}
    everybody = [
        sentence for sentence in own[asking[0]] if len(asking) > 1 and all(sentence in said for said in own.values())
    ]
    contexts = would_change(explained)[len(would_change(replace(explained, context=None))) :]
    changes = {who: tuple(sentence for sentence in said if sentence not in everybody) for who, said in own.items()}
    return changes | {"": (*everybody, *contexts)}


def _concerning(explained: Explanation, who: str) -> Explanation:
    """Return an explanation whose changes are those of one stakeholder."""
    weights = explained.weights
    own = tuple(change for change in weights.found if change.who == who)
    return replace(
        explained,
        pivotal=tuple(pivot for pivot in explained.pivotal if pivot.who == who),
        misreports=tuple(misreport for misreport in explained.misreports if misreport.who in (None, who)),
        weights=replace(weights, found=own or weights.found[:1]),
        context=None,
    )


def _warnings(opened: OpenedDecision, explained: Explanation, asking: Sequence[str]) -> list[str]:
    """Return what a reader must see."""
    row = debated_row(opened, 0, explained.choice.action)
    warnings = unusual_words(row)
    if row.recommended is not None and row.recommended != row.settled:
        warnings.append(
            f"recommend says {row.recommended} for row {row.row}; the dialogue is about {row.settled}, which the "
            f"strategy {'draws most often' if explained.choice.probabilities is not None else 'decides by itself'}"
        )
    unheard = [name for name in asking if name not in opened.with_weight]
    if unheard:
        warnings.append(f"{listed(unheard)}: weight 0 in the run, so what is at stake there counts for nothing")
    return warnings
