"""What may be adopted of a debate, and what an adoption must rest on."""

from __future__ import annotations

import shutil

import pytest

from accordant.deliberation.decision.adoption import adoption_of
from accordant.deliberation.decision.opened_decision import cast_for, open_decision
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.decision.section import debate_decision
from accordant.errors import InputError, RunFolderError
from accordant.runs import read_run
from accordant.runs.sections.adoption import Adoption, adoptions
from accordant.runs.chain import add_section


@pytest.fixture
def debated(run_of_three, tmp_path):
    """A run with a debate of one row: the run, the debate and its link."""
    folder = shutil.copytree(run_of_three, tmp_path / "run")
    run = read_run(folder)
    opened = open_decision(run, None, DecisionOptions(rows=(2,), data=str(run_of_three.parent)))
    debate = debate_decision(opened, cast_for(opened))
    return run, debate, add_section(run.manifest, debate)


def test_an_adoption_says_what_it_rests_on(debated):
    run, debate, link = debated
    found = adoption_of(run, debate, link, "Head of ward", "talked to the family.")
    assert (found.debate, found.debate_sha256) == (link.file, link.sha256)
    assert found.action == debate.rows[0].settled and found.remarks == debate.warnings
    assert "adopted by Head of ward: talked to the family." in found.words
    add_section(run.manifest, found)
    ((number, adopted),) = adoptions(read_run(run.path)).values()
    assert number == "0002" and adopted == found


def test_debates_with_stand_ins_or_without_agreement_are_not_adopted(debated):
    run, debate, link = debated
    replaced = debate.model_copy(update={"usage": {"A": {"moves": 6, "fallbacks": 2}}})
    with pytest.raises(InputError, match="a rule stood in for a language model in 2 of 6 moves"):
        adoption_of(run, replaced, link, "A", "b")
    settled = debate.deliberation.settled.model_copy(update={"agreed": False})
    nobody = debate.model_copy(update={"deliberation": debate.deliberation.model_copy(update={"settled": settled})})
    with pytest.raises(InputError, match="nobody agreed"):
        adoption_of(run, nobody, link, "A", "b")
    many = debate.model_copy(update={"rows": debate.rows * 2})
    with pytest.raises(InputError, match="it is about 2 rows"):
        adoption_of(run, many, link, "A", "b")


def test_a_row_that_a_person_decides_may_be_adopted_and_the_remark_is_kept(debated):
    run, debate, link = debated
    row = debate.rows[0].model_copy(
        update={"recommended": None, "unusual": "far from all training rows", "handling": "referred"}
    )
    found = adoption_of(run, debate.model_copy(update={"rows": (row,)}), link, "A", "b")
    assert found.unusual == "far from all training rows"
    assert "where a person was to decide" in found.words and "unlike the training rows: far" in found.words


def test_an_adoption_of_another_version_is_not_passed_over(debated, monkeypatch):
    run, debate, link = debated
    add_section(run.manifest, adoption_of(run, debate, link, "A", "b"))
    monkeypatch.setattr(Adoption, "version", 2)
    with pytest.raises(RunFolderError, match="0002-adoption.json has version 1; allowed: 2"):
        adoptions(read_run(run.path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"debate_sha256": "0" * 64}, "rests on .*, which is not before it"),
     ({"debate": "sections/0009-decision_debate.json"}, "which is not before it"),
     ({"action": "Nothing"}, "adopts 'Nothing', no action of the run")],
)  # fmt: skip
def test_an_adoption_that_rests_on_nothing_is_refused(debated, changes, message):
    run, debate, link = debated
    add_section(run.manifest, adoption_of(run, debate, link, "A", "b").model_copy(update=changes))
    with pytest.raises(RunFolderError, match=message):
        adoptions(read_run(run.path))
