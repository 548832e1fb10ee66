"""What sections of a run say in a sentence: who and what, one or several, and what cannot be told."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from accordant.preferences.answers_section import AnswersResult
from accordant.runs.sections.adoption import Adoption
from accordant.runs.sections.certification_record import CertificatesResult
from accordant.runs.sections.comparison_record import MetricDifference, RunComparison
from accordant.runs.sections.declaration_changes import Change
from accordant.runs.sections.explanation_record import ExplanationsResult
from accordant.runs.sections.paper_certificate import PaperFigure, PaperPart
from accordant.studies.effects import Effects
from accordant.studies.result import StudyResult


def difference(metric, low=None, high=None):
    return MetricDifference(metric=metric, before=0.5, after=0.6, difference=0.1, low=low, high=high)


@pytest.mark.parametrize(
    ("differences", "words"),
    [
        ([], "Whether figures of D* differ by more than noise cannot be told."),
        ([difference("Gap")], "Whether figures of D* differ by more than noise cannot be told."),
        ([difference("Gap", -0.1, 0.3)], "No change of D* is shown in 1 figure (90%)."),
        ([difference("Gap", 0.0, 0.3), difference("Loss", -0.3, 0.0), difference("Score")],
         "No change of D* is shown in 2 figures (90%, all together)."),
        ([difference("Gap", 0.1, 0.3)], "More than noise in Gap of D* (90%, the only figure)."),
        ([difference("Gap", 0.1, 0.3), difference("Loss", -0.3, -0.1), difference("Mean", -1.0, 1.0)],
         "More than noise in Gap and Loss of D* (90%, all 3 figures together)."),
    ],
)  # fmt: skip
def test_a_comparison_says_whether_figures_differ_by_more_than_noise(differences, words):
    compared = RunComparison.model_construct(differences=tuple(differences), level=0.9)
    assert compared.noise == words


@pytest.mark.parametrize(
    ("data", "declaration", "card", "selected", "words"),
    [
        (0, 0, 0, "maximin", "no key differs; D* is maximin in both."),
        (1, 0, 0, "nash", "keys that differ: 1 of data and split; D* was maximin and is nash."),
        (2, 3, 4, "nash", "keys that differ: 2 of data and split, 3 of the case and 4 of the scope card; D* was maximin "
                          "and is nash."),
    ],
)  # fmt: skip
def test_a_comparison_counts_keys_and_names_both_choices(data, declaration, card, selected, words):
    compared = RunComparison.model_construct(
        data=("key",) * data, declared=SimpleNamespace(declaration=("key",) * declaration, card=("key",) * card),
        first=SimpleNamespace(selected="maximin"), second=SimpleNamespace(selected=selected, folder="new"),
        differences=(), level=0.9,
    )  # fmt: skip
    assert compared.words == f"Beside new: {words} {compared.noise}"


@pytest.mark.parametrize(
    ("changes", "middle"),
    [
        ({}, "Grant, instead of Deny, adopted by the council: it is fair."),
        ({"recommended": "Grant"}, "Grant, as D* decides too, adopted by the council: it is fair."),
        ({"recommended": None}, "Grant, where a person was to decide, adopted by the council: it is fair."),
        ({"unusual": "far from all"}, "Grant, instead of Deny, adopted by the council: it is fair. The row is unlike the "
                                      "training rows: far from all."),
    ],
)  # fmt: skip
def test_an_adoption_says_instead_of_what(changes, middle):
    given = {"row": 3, "source": "new.csv", "action": "Grant", "recommended": "Deny", "unusual": "",
             "by": "the council", "why": "it is fair"}  # fmt: skip
    assert Adoption.model_construct(**given | changes).words == f"Row 3 of new.csv: {middle}"


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ({4: "Grant"}, "Row 4 of new.csv, decided by maximin: Grant."),
        ({4: "Grant", 9: "Deny"}, "Rows 4 and 9 of new.csv, decided by maximin: Grant and Deny."),
    ],
)
def test_explanations_name_rows_and_decisions(actions, words):
    explained = tuple(
        SimpleNamespace(row=row, rule="maximin", choice=SimpleNamespace(action=action))
        for row, action in actions.items()
    )
    assert (
        ExplanationsResult.model_construct(explanations=explained, rows=SimpleNamespace(words="new.csv")).words == words
    )


@pytest.mark.parametrize(
    ("coalition", "n", "left", "who", "more"),
    [
        (None, 1_200, 0, "everybody together", ""), (("Bank", "Clerk"), 1_200, 1, "Bank and Clerk",
                                                     " 1 row is counted and not listed."),
        ((), 1, 1_100, "nobody", " 1,100 rows are counted and not listed."),
    ],
)  # fmt: skip
def test_certificates_say_who_may_misreport_and_what_is_not_listed(coalition, n, left, who, more):
    certified = CertificatesResult.model_construct(
        contexts=n, rule="maximin", rows=SimpleNamespace(words="new.csv"), certified=1, attackable=0, left_out=left,
        threat=SimpleNamespace(coalition=coalition, delta=0.05),
    )  # fmt: skip
    decisions = "1 decision" if n == 1 else "1,200 decisions"
    assert certified.words == (
        f"Of {decisions} by maximin (new.csv), 1 cannot change if {who} may misreport each expected reward by up to "
        f"0.05; a misreport that changes the decision is known for 0.{more}"
    )


@pytest.mark.parametrize(("substitute", "end"), [(True, ": a smooth rule in the place of this one, which may decide "
                                                        "otherwise"), (False, "")])  # fmt: skip
def test_a_certificate_of_the_paper_gives_both_radii_and_reasons(substitute, end):
    figure = {"figure": "radius", "at_star": 0.0125, "tau_star": 2.0, "at_best": None, "best_tau": None, "exact": 0.05,
              "exact_status": "exact", "reason": "no bound"}  # fmt: skip
    figures = PaperFigure.model_construct(**figure), PaperFigure.model_construct(**figure | {"reason": ""})
    part = PaperPart.model_construct(form="sum", mu=0.1, substitute=substitute, figures=figures)
    line = (
        "radius: at least 0.0125 at τ* = 2.0000 [paper, constants ours], nothing finite at the best τ = nothing finite "
        "[ours]; exact: 0.0500 [ours]"
    )
    schema = f"schema of the paper, score sum, E clipped into [0.1, 0.9]{end}"
    assert part.sentences() == (schema, line, "radius: no bound", line)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("changed", "seed: 1 before, 2 now"), ("added", "seed: added: 2"), ("removed", "seed: removed: 1")],
)
def test_a_change_of_a_key_shows_what_was_and_what_is(kind, words):
    assert Change(key="seed", kind=kind, before=1, after=2).words == words


def test_effects_are_told_of_all_rows_and_studies_by_their_runs():
    groups = [SimpleNamespace(action=action, mean=mean, attributes=attributes)
              for action, mean, attributes in (("A", 1.25, ()), ("A", 9.0, ("sex",)), ("B", -0.5, ()))]  # fmt: skip
    told = Effects.model_construct(against="C", groups=tuple(groups))
    assert told.words == "Predicted mean effects against C: A 1.250, B -0.500."
    for finished, conditions, words in (
        ([True], 1, "1 of 1 run in 1 condition."), ([True, False, True], 2, "2 of 3 runs in 2 conditions."),
    ):  # fmt: skip
        cells = tuple(SimpleNamespace(finished=done) for done in finished)
        assert StudyResult.model_construct(cells=cells, conditions=("condition",) * conditions).words == words


@pytest.mark.parametrize(
    ("questions", "records", "counts"),
    [(1, 1, "1 question (1 comparison"), (3, 4, "3 questions (4 comparisons")],
)
def test_answers_are_counted_with_what_is_best_by_them(questions, records, counts):
    told = AnswersResult.model_construct(
        stakeholder="Ward", questions=questions, records=records, sha256="ab", kind="outcome", best="Better",
        probability=0.875,
    )  # fmt: skip
    assert told.words == (
        f"Ward answered {counts}, sha256 ab): by these the best outcome is Better, with probability 0.88."
    )
