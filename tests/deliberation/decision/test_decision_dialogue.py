"""Dialogues on why a run decides as it does: the section, its page, a person at the terminal, and what is refused."""

from __future__ import annotations

import shutil

import pytest

from accordant.deliberation.decision.dialogue import dialogue_on_decision
from accordant.deliberation.decision.dialogue_result import DecisionDialogue
from accordant.deliberation.decision.dialogue_terminal import person_at_the_terminal
from accordant.deliberation.decision.opened_decision import open_decision
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.page import render_dialogue, write_dialogue
from accordant.errors import InputError
from accordant.naming import Named
from accordant.runs import read_run
from accordant.runs.chain import add_section
from accordant.sections import page_parts


@pytest.fixture(scope="module")
def finished(run_of_three):
    return read_run(run_of_three)


@pytest.fixture(scope="module")
def new(run_of_three):
    return run_of_three.parent / "new.csv"


def opened_on(run, source, row=0, **options):
    return open_decision(run, source, DecisionOptions(rows=(row,), protocol="dialogue", **options))


def test_every_stakeholder_with_weight_asks_about_what_the_run_decides(finished, new):
    opened = opened_on(finished, new)
    found = dialogue_on_decision(opened)
    policy = finished.policy
    (explained,) = policy.explain(opened.batch, rows=[0])
    assert [each.who for each in found.dialogues] == list(found.with_weight) == ["Bank", "Applicant"]
    assert found.row.settled == explained.choice.action and found.run.selected == policy.selected_
    for held in found.dialogues:
        assert held.moves[0].speaker == held.who and held.moves[1].speaker == policy.selected_
        assert held.other != found.row.settled and held.known_before <= held.known_after <= held.reasons
        best = max(found.row.expected[held.who].values())
        objects = any(move.locution == "refute" and move.speaker == held.who for move in held.moves)
        assert objects == (found.row.expected[held.who][found.row.settled] < best - 1e-12)
        assert held.understood == (held.ending == "understood") and (held.outcome in found.outcome)
    said = {sentence for each in found.dialogues for sentence in each.would_change} | set(found.would_change)
    assert said <= set(explained.sentences()) | {each for each in said if "and if it had no preference" in each}
    assert DecisionDialogue.read(found.to_json()) == found
    assert "--protocol dialogue" in found.command_line and "--row 0" in found.command_line


@pytest.mark.parametrize("asking", [("Bank",), ("Bank", "Applicant")])
def test_what_would_change_it_is_told_with_who_asks_unless_it_is_the_same_for_several(finished, new, asking):
    found = dialogue_on_decision(opened_on(finished, new, agents=tuple(Named(who, {}) for who in asking)))
    for held in found.dialogues:
        own, everybody = (
            [said for said in sentences if said.startswith("If all expected rewards change")]
            for sentences in (held.would_change, found.would_change)
        )
        assert (len(own), len(everybody)) == ((1, 0) if asking == ("Bank",) else (0, 1))
        assert any(said.startswith(f"The same is decided without {held.who},") for said in held.would_change)
        assert not set(held.would_change) & set(found.would_change)
    assert any(said.startswith("Other contexts were looked for") for said in found.would_change)


def test_the_page_of_the_run_holds_what_the_page_of_a_dialogue_says(finished, new):
    found = dialogue_on_decision(opened_on(finished, new))
    part, page = page_parts.factory(found.name)(found), render_dialogue(found)
    assert part.chapter == "talks" and part.title == f"{found.subject}: why {found.row.settled}"
    assert page[page.index("<section") : page.index("</main>")].strip() in part.html


def test_a_page_that_is_written_speaks_by_words(finished, new, tmp_path):
    found = dialogue_on_decision(opened_on(finished, new))
    html = write_dialogue(found, tmp_path / "dialogue.html").read_text(encoding="utf-8")
    selected = finished.policy.selected_
    head = html[html.index('<p class="lead">') : html.index("<main")]
    assert selected.startswith("constrained[") and "constrained[" not in head and "constrained (" in head
    assert "`" not in html[html.index("<body") :]


def test_the_same_seed_gives_the_same_bytes_and_a_page(finished, new):
    first, second = (dialogue_on_decision(opened_on(finished, new, 1)) for _ in range(2))
    page = render_dialogue(first)
    assert first.to_json() == second.to_json() and page == render_dialogue(DecisionDialogue.read(first.to_json()))
    for part in (f"Why {first.row.settled}?", "Bank", "because", "What would change it", "How to reproduce it"):
        assert part in page


def test_rows_that_the_run_does_not_decide_are_said_to_be_so(finished, new):
    abroad, outside = (dialogue_on_decision(opened_on(finished, new, row)) for row in (2, 3))
    assert any("leaves it to a person" in each for each in abroad.warnings)
    assert any("takes the declared fall-back" in each for each in outside.warnings)


def test_whoever_has_no_say_may_ask_and_counts_for_nothing(finished, new):
    found = dialogue_on_decision(opened_on(finished, new, agents=(Named("Auditor", {"policy": "stubborn"}),)))
    assert [each.policy for each in found.dialogues] == ["stubborn"]
    assert any(each.startswith("Auditor: weight 0") for each in found.warnings)


def test_a_section_is_added_and_read_again(run_of_three, tmp_path, new):
    run = read_run(shutil.copytree(run_of_three, tmp_path / "run"))
    found = dialogue_on_decision(opened_on(run, new))
    add_section(run.manifest, found)
    again = read_run(run.path)
    assert again.links[0].section() == found and again.links[0].words == found.words
    assert found.words.startswith(f"Row 0 of 5 rows of new.csv: why {found.row.settled} (")
    assert "Added since the run" in again.page()


def test_a_person_chooses_among_legal_moves(finished, new):
    told, lines = [], iter(["1", "nonsense", "999", "", ""])

    def person(about):
        return person_at_the_terminal(about, ask=lambda question: next(lines), tell=told.append)

    opened = opened_on(finished, new, agents=(Named("Applicant", {"policy": "human"}),))
    held = dialogue_on_decision(opened, person=person).dialogues[0]
    assert held.policy == "human" and held.moves[0].locution == "query"
    assert any("asks: why" in line for line in told) and any("answers:" in line for line in told)
    assert "'nonsense' is no move" in " ".join(told) and "'999' is no move" in " ".join(told)
    assert not held.understood and next(lines, None) == ""  # an empty line, and who answers leaves the question open


def test_the_input_may_end(finished, new):
    def ends(question):
        raise EOFError

    opened = opened_on(finished, new, agents=(Named("Applicant", {"policy": "human"}),))
    with pytest.raises(InputError, match="the input ended before the dialogue"):
        dialogue_on_decision(opened, person=lambda about: person_at_the_terminal(about, ask=ends, tell=print))
    with pytest.raises(InputError, match="a person speaks for Applicant, and nobody is there"):
        dialogue_on_decision(opened)


WRONG = {
    "a settlement": ({"settle": "bargain"}, "--settle has no effect on --protocol dialogue"),
    "nobody of that name": ({"agents": (Named("Bnk", {}),)}, "unknown stakeholder of --agents 'Bnk'.*'Bank'"),
    "twice": ({"agents": (Named("Bank", {}), Named("Bank", {}))}, "names 'Bank' twice"),
    "a parameter": ({"agents": (Named("Bank", {"polcy": "x"}),)}, "unknown parameter of Bank 'polcy'.*'policy'"),
    "a policy": ({"agents": (Named("Bank", {"policy": "stuborn"}),)}, "unknown policy of Bank 'stuborn'.*'stubborn'"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_is_refused(finished, new, kind):
    options, message = WRONG[kind]
    with pytest.raises(InputError, match=message):
        dialogue_on_decision(opened_on(finished, new, **options))


def test_rows_that_compete_are_not_asked_about(finished, new):
    options = DecisionOptions(rows=(0, 1), protocol="dialogue", grant="Grant", otherwise="Deny", capacity=1)
    with pytest.raises(InputError, match="--grant has no effect on --protocol dialogue"):
        dialogue_on_decision(open_decision(finished, new, options))
