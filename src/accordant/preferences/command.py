"""The commands ``accordant preferences`` and ``accordant elicit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from accordant.terminal import CaseName, Data, Json, On, Out, Seed, with_model


def preferences(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Preferences: TRL, HH-RLHF, DSP, features, or a folder of MovieLens.")
    ],
    method: Annotated[
        list[str] | None, typer.Option(help="A learner: name or 'name[parameter=value,…]'; may be given again.")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare all learners that can learn from the file.")
    ] = False,
    parameters: Annotated[str | None, typer.Option(help="Parameters of the one --method, as a JSON object.")] = None,
    format: Annotated[  # noqa: A002 - the name of the option
        str, typer.Option(help="auto, trl, hh-rlhf, dsp, movielens or features.")
    ] = "auto",
    encoder: Annotated[str, typer.Option(help="How texts become features: tf-idf, length or sentence.")] = "tf-idf",
    test: Annotated[float, typer.Option(help="Share of each user's comparisons to judge by.")] = 0.3,
    new_users: Annotated[float, typer.Option(help="Share of users to hold out whole.")] = 0.0,
    first: Annotated[int, typer.Option(help="By how many comparisons each new user is known.")] = 8,
    minority: Annotated[float, typer.Option(help="DSP: share of made-up users in the minority.")] = 0.2,
    users: Annotated[int, typer.Option(help="DSP: number of users to make up.")] = 60,
    records: Annotated[
        int | None, typer.Option(help="DSP: comparisons of each user (40); MovieLens: the most of a user (100).")
    ] = None,
    styles: Annotated[
        str | None, typer.Option(help="DSP: style of majority and minority, such as academy,normal.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column to leave out, or * for all unknown ones; may be given again.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Accuracy that a group may lose where another one gains.")
    ] = 0.02,
    gain: Annotated[
        float | None, typer.Option(help="Smallest gain of the minority worth having, for the verdict's power.")
    ] = None,
    agreement: Annotated[
        bool,
        typer.Option("--agreement", help="Measure what methods do with responses that agree with false stances."),
    ] = False,
    over_time: Annotated[bool, typer.Option("--over-time", help="Watch for preferences that change.")] = False,
    time: Annotated[str, typer.Option(help="With --over-time: the column that says when.")] = "time",
    resamples: Annotated[int, typer.Option(min=40, help="Bootstrap resamples of users, at least 40.")] = 1000,
    on: On = None,
    seed: Seed = 42,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare preference learners: who is served how well, against which controls; as text, JSON or HTML."""
    from accordant.preferences.comparison import SourceOptions
    from accordant.preferences.page import write_comparison
    from accordant.preferences.result import PreferenceOptions
    from accordant.preferences.section import compare_preferences
    from accordant.preferences.terminal import print_comparison, style_names
    from accordant.runs.pages import check_page
    from accordant.tables.output import is_standard_output
    from accordant.terminal import check_out, print_json, working
    from accordant.threads import free_cores

    check_out(out, [file], json=json, check=check_page)
    source = SourceOptions(format, minority, users, records, style_names(styles), tuple(ignore or ()))
    options = PreferenceOptions(
        tuple(method or ()), parameters, compare, encoder, test, new_users, first, seed, resamples, source,
        tolerance, gain, agreement, over_time, time,
    )  # fmt: skip
    with working(on):
        comparison = compare_preferences(file, options, free_cores())
    page = None if out is None else write_comparison(comparison, out)
    if not is_standard_output(out):
        print_json(comparison.to_json()) if json else print_comparison(comparison.section, page)


def elicit(
    case: Annotated[
        str, typer.Argument(metavar="CASE|RUN", help="A built-in case, a path to a YAML file, or a finished run.")
    ],
    stakeholder: Annotated[str, typer.Option(help="Who answers: a stakeholder of the case.")],
    questions: Annotated[int, typer.Option(min=1, help="Most questions to ask.")] = 30,
    level: Annotated[float, typer.Option(min=0.5, max=1.0, help="Stop when the best action is this probable.")] = 0.95,
    context: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="What every question supposes; repeatable.")
    ] = None,
    data: Data = None,
    answers: Annotated[
        Path | None, typer.Option(help="File with an answer on every line instead of the terminal.")
    ] = None,
    add: Annotated[
        bool, typer.Option("--add/--no-add", help="With a run: add counts and a hash of the answers.")
    ] = True,
    seed: Seed = 42,
    out: Out = None,
    json: Json = False,
) -> None:
    """Ask a stakeholder which outcomes are better, until it is clear which action suits them best; answers as CSV."""
    from accordant.errors import InputError
    from accordant.preferences.answers_section import answers_section
    from accordant.preferences.interview import InterviewOptions
    from accordant.preferences.terminal import conduct, print_answers
    from accordant.runs import read_run
    from accordant.runs.chain import add_section, check_addable
    from accordant.tables.output import is_run
    from accordant.terminal import check_out, named_values, print_json, say

    check_out(out, [case, answers, data], json=json)
    if not (add or is_run(case)):
        raise InputError(f"--no-add has no effect on {case}, which is no finished run")
    if add and is_run(case):
        check_addable(Path(case))
    run = read_run(case) if is_run(case) else None
    supposed = named_values("--context", context or (), "NAME=VALUE")
    options = InterviewOptions(questions, level, seed, data, supposed)
    held = conduct(run or case, stakeholder, options, answers, out)
    print_json(held.to_json()) if json else print_answers(held, out)
    if run is not None and add:
        say(add_section(run.manifest, answers_section(held)).receipt, err=True)


@with_model(
    speaks_for="No effect: the model speaks for --stakeholder.", fallback="No effect: nothing stands in for an answer."
)
def ask(
    case: CaseName,
    stakeholder: Annotated[str, typer.Option(help="Whom the model speaks for: a stakeholder of the case.")],
    json: Json = False,
    *,
    model: dict[str, Any],
) -> None:
    """Ask a language model which of two outcomes is better for a stakeholder, every pair in both orders; recorded."""
    from accordant.agents.language.options import model_options
    from accordant.preferences.terminal import ask_model

    ask_model(case, stakeholder, model_options(model), json=json)


COMMANDS = (
    preferences,
    elicit,
    ask,
)
