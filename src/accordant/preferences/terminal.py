"""What ``accordant preferences`` and ``accordant elicit`` take and print."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.naming import counted
from accordant.preferences.elicitation import Answer
from accordant.preferences.learned_rewards.answer_file import AnswerFile, as_csv
from accordant.preferences.page.reading import ComparisonReading, power_of
from accordant.preferences.result import LearnerComparison
from accordant.tables.output import is_standard_output, write_output
from accordant.tables.text import read_line, read_text
from accordant.terminal import PlainConsole, print_json, say
from accordant.terminal_table import FittedTable

if TYPE_CHECKING:
    from accordant.agents.language.options import ModelOptions
    from accordant.preferences.interview import Interview, InterviewOptions
    from accordant.runs.folder import Run

POWER = "how often a gain of the minority as large as that seen, or declared by --gain, would be shown with these users"
MARKS = {"pooled": "=", "control": "*", "method": " ", "looked_at": ">"}
KEYS: dict[str, Answer] = {"1": "first", "2": "second", "=": "equal", "0": "cannot say"}
STOP = "q"
HELP = "Answer 1 or 2, = if they are equally good, 0 if you cannot say, q to stop; then Enter."
SHOWN = 3  # alternatives in the line of progress
_ENDED = {
    "small regret": "Another question would hardly pay",
    "asked enough": "Not settled, but asked enough,",
    "stopped by the person": "Not settled, but stopped",
}


def style_names(given: str | None) -> tuple[str, str] | None:
    """Return majority and minority style of an option such as ``academy,normal``.

    Raises `InputError` unless two styles are named.
    """
    if given is None:
        return None
    names = [name.strip() for name in given.split(",") if name.strip()]
    if len(names) != 2:
        raise InputError(f"--styles is {given!r}; allowed: two styles with a comma between, majority first")
    return names[0], names[1]


def print_comparison(content: LearnerComparison, page: Path | None) -> None:
    """Print the answer, the table of methods, what to mind, and where the page is."""
    console = PlainConsole()
    split, groups = content.split, content.groups
    console.print(
        f"{content.file} ({content.format}): {counted(content.records, 'comparison')} of "
        f"{counted(content.users, 'user')}; "
        f"{split.training_records} to learn from, {split.test_records} to judge by, "
        f"{'by time' if split.by == 'time' else 'drawn at random'} within users"
    )
    sizes = ", ".join(f"{name} {size}" for name, size in groups.sizes.items())
    console.print(f"{groups.found}; users: {sizes}" + (f", unknown {groups.unknown}" if groups.unknown else ""))
    console.print(f"support: {groups.support}")
    console.print()
    console.print(methods_table(content))
    console.print("= pooled reward   * control   > looked at closely   intervals are in the JSON and on the page")
    console.print(f"power: {POWER}\n")
    for sentence in [*content.answer.sentences, *content.declared]:
        console.print(f"- {sentence}")
    for title, sentences in (
        ("agreement with false stances", content.agreement.sentences if content.agreement else ()),
        ("over time", content.over_time.sentences if content.over_time else ()),
        ("mind", content.warnings),
        ("left out", _left_out(content)),
        ("terms", [content.terms]),
    ):
        if sentences:
            console.print(f"\n{title}:")
        for sentence in sentences:
            console.print(f"- {sentence}")
    if page is not None:
        console.print(f"\npage: {page}")


def methods_table(content: LearnerComparison) -> FittedTable:
    """Return methods with the metrics that matter first."""
    reading, over = ComparisonReading(content), content.intervals.over
    table = FittedTable(f"Accuracy and spread over {over}")
    table.add("method", name=True)
    columns = {
        "accuracy": "accuracy", **{f"accuracy[{name}]": name for name in reading.shown_groups}, "worst_10": "worst 10%",
        "gap": "gap", "corrected_std": "spread", "support_slope": "slope on support", "log_loss": "log-loss",
    }  # fmt: skip
    for title in columns.values():
        table.add(title, number=True)
    table.add("against pooled", name=True)
    table.add("power", number=True)
    for row in reading.rows:
        test, values = row.content.pareto, (row.metric(name).value for name in columns)
        table.add_row(
            f"{MARKS[row.role]} {row.label}",
            *("–" if value is None else f"{value:.3f}" for value in values),
            "" if test is None else test.verdict,
            "" if test is None else power_of(test),
        )
    return table


def _left_out(content: LearnerComparison) -> Sequence[str]:
    """Return methods and users that were left out, with reasons."""
    methods = [f"{skip.method}: {skip.reason}" for skip in content.skipped]
    return [*methods, *(f"{counted(exclusion.users, 'user')}: {exclusion.reason}" for exclusion in content.excluded)]


def conduct(
    case: str | Run, stakeholder: str, options: InterviewOptions, answers: Path | None, out: Path | None
) -> Interview:
    """Prepare an interview, see `begin_interview`, and hold it: answers come from a file, or from standard input."""
    lines = lines_of_stdin() if answers is None else lines_of_file(answers)
    from accordant.preferences.interview import begin_interview  # imports what learns, which comparisons do without

    interview, file = begin_interview(case, stakeholder, options, out)
    converse(interview, lines, show_on_stderr, file)
    return interview


def converse(
    interview: Interview, lines: Iterable[str], show: Callable[[str], None], file: AnswerFile | None = None
) -> None:
    """Ask until there is a reason to stop, the person stops, or the lines end; write every answer at once to a file."""
    typed = iter(lines)
    show(opening(interview))
    while interview.question is not None:
        first, second = interview.question
        number = len(interview.session.answered) + 1
        show(f"\n{number}. Which is better for {interview.stakeholder}?\n   1) {first}\n   2) {second}")
        answer = next_answer(typed, show)
        if answer is None:
            interview.session.stop()
            break
        if file is not None:
            file.add([record.row(interview.stakeholder, interview.context) for record in interview.meaning(answer)])
        interview.answer(answer)
        show(f"   {progress(interview)}")
    show(f"\n{closing(interview)}")


def next_answer(typed: Iterator[str], show: Callable[[str], None]) -> Answer | None:
    """Return the next answer; None for q, the end of input or an interrupt. Anything else is asked again."""
    try:
        for line in typed:
            word = line.strip().lower()
            if word == STOP:
                return None
            if word in KEYS:
                return KEYS[word]
            show(f"   {word!r} is no answer. {HELP}")
    except KeyboardInterrupt:
        return None
    return None


def opening(interview: Interview) -> str:
    """Return what is said before the first question."""
    lines = [f"{interview.case.title}: what {interview.stakeholder} prefers."]
    if interview.context:
        lines.append("Suppose: " + ", ".join(f"{name} is {value}" for name, value in interview.context.items()) + ".")
    stake = interview.at_stake
    lines.append(f"To decide: the best {stake.kind} ({stake.basis}).")
    if interview.earlier:
        earlier = counted(len(interview.earlier), "earlier comparison is", "earlier comparisons are")
        lines.append(f"{earlier} taken into account.")
    return "\n".join([*lines, HELP])


def progress(interview: Interview) -> str:
    """Return how probable the best alternatives are, in one line."""
    chances, names = interview.session.standing.chances, interview.at_stake.names
    order = sorted(range(len(names)), key=lambda a: -chances[a])[:SHOWN]
    return "Best by now: " + "; ".join(f"{names[a]} {_percent(chances[a])}" for a in order)


def closing(interview: Interview) -> str:
    """Return why it ended, and what was found."""
    session, stake = interview.session, interview.at_stake
    standing, count = session.standing, len(session.answered)
    assert session.stopped is not None
    new = "new " if interview.earlier else ""
    asked, best = counted(count, f"{new}question"), stake.names[standing.decided]
    sure = f"with probability {_percent(standing.probability)}"
    if session.stopped == "settled":
        return f"Settled after {asked}: the best {stake.kind} for {interview.stakeholder} is {best} {sure}."
    return (
        f"{_ENDED[session.stopped]} after {asked}: {best} has the least to lose; it is the best {stake.kind} for "
        f"{interview.stakeholder} {sure}."
    )


def print_answers(interview: Interview, out: Path | None) -> None:
    """Print where the answers are, or the answers themselves."""
    if not (out is None or is_standard_output(out)):
        told = counted(len(interview.records), "comparison")
        if interview.earlier:
            told = f"{len(interview.records)} new, {counted(len(interview.earlier), 'earlier comparison')}"
        say(f"{told}: {out}")
    else:
        rows = [record.row(interview.stakeholder, interview.context) for record in interview.records]
        write_output("-", as_csv(rows, tuple(interview.context)))


def lines_of_file(path: Path) -> list[str]:
    """Return the lines of a file of answers that say something.

    Raises
    ------
    InputError
        If it cannot be read, is no text, or a line is no answer: nobody is there who could be asked again.
    """
    try:
        lines = read_text(path, empty=True).splitlines()
    except DataError as error:
        raise InputError(f"answers cannot be read from {error}") from None
    for number, line in enumerate(lines, start=1):
        word = line.strip().lower()
        if word and word != STOP and word not in KEYS:
            raise InputError(f"{path} line {number}: {line!r:.40} is no answer; allowed: {', '.join([*KEYS, STOP])}")
    return [line for line in lines if line.strip()]


def lines_of_stdin() -> Iterator[str]:
    """Yield what the person types, or what is piped in.

    Raises `InputError` if that is no text in UTF-8.
    """
    try:
        while line := read_line(sys.stdin, "standard input"):
            yield line.removeprefix("\ufeff")  # which some programs write before a text in UTF-8
    except UnicodeDecodeError:
        raise InputError("answers on standard input are no text in UTF-8") from None


def show_on_stderr(text: str) -> None:
    """Show a text to the person."""
    say(text, err=True)


def _percent(chance: float) -> str:
    """Return a share of samples in whole per cent; samples never make anything certain."""
    return "over 99 %" if chance > 0.995 else "under 1 %" if chance < 0.005 else f"{100 * chance:.0f} %"


def ask_model(case: str, stakeholder: str, model: ModelOptions | None, *, json: bool) -> None:
    """Ask a model about every two cells, and print what came of it.

    Raises `InputError` if no model or no recording is named, or the case, the stakeholder or an answer cannot be used.
    """
    from accordant.agents.language.participant import connect
    from accordant.cases.files import read_case
    from accordant.preferences.learned_rewards.respondent import LanguageModelRespondent, pairs_of

    problem = read_case(case)[0].problem
    if stakeholder not in problem.stakeholder_names:
        raise UnknownNameError("stakeholder", stakeholder, problem.stakeholder_names)
    pairs_of(problem)
    if model is None or (model.record is None and model.replay is None):
        raise InputError("who answers? allowed: --llm BASE_URL with --record FILE, or --replay FILE, and --model NAME")
    if model.agents or model.fallback:
        raise InputError("--speaks-for and --fallback have no effect here: the model speaks for --stakeholder alone")
    respondent = LanguageModelRespondent(stakeholder, model.base_url, model.model, **connect(model))
    asked = respondent.asked(problem, stakeholder)
    file = Path(model.record or str(model.replay))
    if json:
        told = {"stakeholder": stakeholder, "model": model.model, "pairs": asked.pairs, "by_place": asked.by_place}
        print_json(told | {"file": str(file), "usage": respondent.usage()})
        return
    say(f"{model.model} answered for {stakeholder}: {counted(asked.pairs, 'pair')}, each in both orders.")
    by_place = counted(asked.by_place, "pair was", "pairs were")
    say(f"{by_place} answered by the place in the question, which counts for neither response.")
    say(f"recording: {file}")
    say(f"in a case: {stakeholder}: {{signal: agent, model: {model.model}, file: {file.name}}}")
