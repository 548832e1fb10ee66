"""A stakeholder that is split into groups: the case that is run, what the record says, and who reads it afterwards."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from accordant.cases.files import read_case
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, SpecError
from accordant.report.render import render
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.sections.certification import certify_rows
from accordant.runs.sections.explanation import document_of, explained_rows
from accordant.runs.record import Record, StakeholderGroups
from accordant.runs.untouched_rows import contexts_of
from accordant.runs.stakeholder_groups import with_groups
from accordant.slates.case import read_slates
from accordant.slates.offers import market_of_offers

HEADER = "user_id,group_id,chosen_action,chosen_outcome,rejected_action,rejected_outcome\n"
CHAIN = (
    "yes,good,no,good",
    "no,good,no,bad",
    "no,bad,yes,bad",
    "yes,good,yes,bad",
    "yes,good,no,bad",
    "no,good,yes,bad",
)
SIZES = {"tenant": 8, "owner": 4}


def turned(line):
    """Return the opposite answer."""
    action, outcome, other, another = line.split(",")
    return f"{other},{another},{action},{outcome}"


def write_answers(path):
    """Write what tenants answered, and owners, who want the opposite."""
    lines = [
        f"{group}{n},{group},{line if group == 'tenant' else turned(line)}\n"
        for group, people in SIZES.items()
        for n in range(people)
        for line in CHAIN
    ]
    path.write_text(HEADER + "".join(lines))
    return path


@pytest.fixture(scope="module")
def written(cases, tmp_path_factory):
    """A maker of the case with groups of applicants, in a folder with its files."""

    def write(changes=None, **spec):
        folder = tmp_path_factory.mktemp("split")
        shutil.copy(cases["own"].with_name("own.csv"), folder)
        write_answers(folder / "people.csv")
        case = yaml.safe_load(cases["own"].read_text())
        case["rewards"]["Applicant"] = {"signal": "comparisons", "file": "people.csv"}
        case["problem"]["stakeholders"] = ["Bank", {"name": "Applicant", "weight": 3, "description": "Wants a loan."}]
        case["groups"] = {"Applicant": spec}
        case |= changes or {}
        (folder / "split.yaml").write_text(yaml.safe_dump(case))
        return folder / "split.yaml"

    return write


def expanded(path, files=None):
    case, beside = read_case(path)
    return with_groups(case, beside, None, files or {})


@pytest.mark.parametrize(("spec", "names", "weights", "entries"), [
    ({}, ("type 1", "type 2"), (2.0, 1.0), ({"type": 1, "types": 2}, {"type": 2, "types": 2})),
    ({"by": "group_id"}, ("tenant", "owner"), (2.0, 1.0), ({"group": "tenant"}, {"group": "owner"})),
    ({"by": "group_id", "weight": "equal"}, ("tenant", "owner"), (1.5, 1.5), ({"group": "tenant"}, {"group": "owner"})),
])  # fmt: skip
def test_a_stakeholder_becomes_its_groups(written, spec, names, weights, entries):
    path = written(least=3, **spec)
    declared, split = read_case(path)[0], expanded(path)
    bank, *groups = split.case.problem.stakeholders
    assert bank == declared.problem.stakeholders[0] and split.case.rewards["Bank"] == declared.rewards["Bank"]
    assert tuple(each.name for each in groups) == tuple(f"Applicant ({name})" for name in names)
    assert tuple(each.weight for each in groups) == pytest.approx(weights)
    assert sum(each.weight for each in groups) == pytest.approx(3.0)
    assert groups[0].description == "Wants a loan. 8 of the 12 people who answered for Applicant."
    assert split.case.groups == {}
    for each, entry in zip(groups, entries, strict=True):
        assert split.case.rewards[each.name] == {"signal": "comparisons", "file": "people.csv", **entry}
    assert split.declared_names == {"Bank": "Bank", **dict.fromkeys((each.name for each in groups), "Applicant")}
    (part,) = split.parts
    assert [(each.people, each.share) for each in part.groups] == [(8, 8 / 12), (4, 4 / 12)]


def test_a_case_without_groups_stays_as_it_is(cases):
    case, beside = read_case(cases["own"])
    split = with_groups(case, beside, None, {})
    assert split.case is case and split.parts == ()


def test_a_stakeholder_whose_people_are_too_few_stays_whole(written):
    path = written(least=7)
    split = expanded(path)
    assert split.case == read_case(path)[0].replace(groups={})
    (part,) = split.parts
    assert not part.split and part.names == ("Applicant",) and part.groups[0].weight == 3.0
    assert part.sentences == ("Applicant stays whole: nobody looked for types among its 12 people.",)
    assert part.warnings[0].startswith("12 people answered, too few for two groups of at least 7")


def test_entries_of_a_set_are_kept_for_the_others(written):
    problem = {"stakeholders": ["Bank", "Applicant", "Regulatory"], "actions": ["Grant", "Lower", "Deny"],
               "outcomes": ["Fully Paid", "Partially Paid", "Not Paid"]}  # fmt: skip
    path = written({"problem": problem, "rewards": {
        "set": "lending", "noise": 0.0, "Applicant": {"signal": "comparisons", "file": "loans.csv"},
    }, "metrics": {"Mean": {"metric": "mean_reward", "weight": 1.0}}}, by="group_id", least=2)  # fmt: skip
    lines = [f"p{n},g{n % 2},Grant,Fully Paid,Deny,Not Paid\n" for n in range(6)]
    path.with_name("loans.csv").write_text(HEADER + "".join(lines))
    declared, split = read_case(path)[0], expanded(path)
    rest = {"set": "lending", "noise": 0.0}
    applicants = {"signal": "comparisons", "file": "loans.csv"}
    assert split.case.rewards == {
        "Bank": rest,
        "Applicant (g0)": {**applicants, "group": "g0"},
        "Applicant (g1)": {**applicants, "group": "g1"},
        "Regulatory": rest,
    }
    before, after = declared.sources(), split.case.sources()
    assert after["Bank"] == before["Bank"] and after["Regulatory"] == before["Regulatory"]


@pytest.mark.parametrize(("groups", "message"), [
    ({"Aplicant": {}}, "unknown stakeholder in groups: 'Aplicant'; did you mean 'Applicant'?"),
    ({"Applicant": {"by": "type"}}, "groups.Applicant: by: Input should be 'types' or 'group_id'"),
    ({"Applicant": {"most": 9}}, "groups.Applicant: most: Input should be less than or equal to 8"),
    ({"Applicant": {"least": 1}}, "groups.Applicant: least: Input should be greater than or equal to 2"),
    ({"Applicant": {"leest": 3}}, "groups.Applicant: unknown key 'leest'; did you mean 'least'?"),
    ({"Bank": {}}, "groups of 'Bank': only rewards that are learned from comparisons of several people have groups"),
    ({"Applicant": {"by": "group_id"}}, "groups of 'Applicant': people.csv: group_id 'owner' has 4 people; allowed: at least 5"),
])  # fmt: skip
def test_what_is_refused_before_data_are_loaded(written, monkeypatch, groups, message):
    monkeypatch.setattr("accordant.runs.execution.case_data", None)
    with pytest.raises(SpecError) as raised:
        carry_out(written({"groups": groups}), RunOptions(seed=7))
    assert message in str(raised.value) and "split.yaml, line " in str(raised.value)


def test_who_names_a_stakeholder_that_was_split_is_told_into_what(written):
    rule = {"name": "stakeholder", "parameters": {"stakeholder": "Applicant"}}
    path = written({"strategies": [rule]}, by="group_id", least=2)
    with pytest.raises(InputError) as raised:
        carry_out(path, RunOptions(seed=7))
    assert "('Applicant' was split into Applicant (tenant), Applicant (owner))" in str(raised.value)


def market(path):
    case, declared, beside = read_slates(path)
    return market_of_offers(declared, case.slates, 7, None, beside)


def test_lists_that_start_from_the_case_know_its_groups(written):
    source = market(written({"slates": {"user": "Bank"}}, by="group_id", least=2))
    assert source.market.stakeholders == ("Bank", "Applicant (tenant)", "Applicant (owner)")
    assert "Applicant is split into 2 groups among 12 people" in source.notes[-1]
    with pytest.raises(InputError, match="was split into Applicant .tenant., Applicant .owner."):
        market(written({"slates": {"user": "Applicant"}}, by="group_id", least=2))


@pytest.fixture(scope="module")
def finished(written, tmp_path_factory):
    """A run of the split case, whose answers were given beside it, read where they are no more."""
    folder = tmp_path_factory.mktemp("finished")
    file = write_answers(folder / "given.csv")
    path = written(least=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")
        outcome = carry_out(path, RunOptions(seed=7, preferences={"Applicant": str(file)}))
        run = write_run(outcome, folder / "run")
    file.unlink()
    return read_run(run), path.with_name("own.csv")


GROUPS = ("Applicant (type 1)", "Applicant (type 2)")


def test_the_record_says_who_was_split_and_from_whose_answers_each_learned(finished):
    run, _ = finished
    (part,) = run.record.stakeholder_groups
    assert part.names == GROUPS and part.by == "types" and part.people == 12 and len(part.tried) == 4
    content = run.content["reward_sources"]
    assert [(content[name]["users"], content[name]["records"]) for name in GROUPS] == [(8, 48), (4, 24)]
    assert content[GROUPS[0]]["replaces"] == "the comparisons in people.csv" and content[GROUPS[0]]["given"]
    assert [each["name"] for each in run.content["case"]["problem"]["stakeholders"]] == ["Bank", *GROUPS]
    assert "tenant0" not in json.dumps(run.content) and "owner0" not in json.dumps(run.content)


def test_a_record_with_groups_is_read_back_and_one_without_them_too(finished):
    run, _ = finished
    assert Record.read(json.loads(json.dumps(run.content))) == run.record
    old = {key: value for key, value in run.content.items() if key != "stakeholder_groups"}
    old["case"] = {key: value for key, value in old["case"].items() if key != "groups"}
    assert Record.read(old).stakeholder_groups == () and CaseSpec(**old["case"]).groups == {}


def test_a_finished_run_decides_certifies_and_explains_by_its_groups(finished):
    run, file = finished
    (one, two) = document_of(explained_rows(run, str(file)))["rests_on"][1:]
    assert one.startswith(
        f"What {GROUPS[0]} is expected to get rests on a reward learned from 48 comparisons by 8 people"
    )
    assert two.startswith(
        f"What {GROUPS[1]} is expected to get rests on a reward learned from 24 comparisons by 4 people"
    )
    contexts = contexts_of(run, str(file), None)[0]
    expected = run.policy.expected_rewards(contexts)
    assert expected.stakeholders == ("Bank", *GROUPS)
    assert run.policy.recommend(contexts).decisions.n_contexts == 90
    assert certify_rows(run, str(file), delta=0.05).certificate.expected.stakeholders == expected.stakeholders
    best = expected.values[1:].argmax(axis=1)
    assert (best[0] != best[1]).all()  # they want opposite things, in every context


def test_the_report_names_the_groups_and_a_command_that_can_be_given(finished):
    run, _ = finished
    page = render(run.record).replace("<wbr>", "")
    assert (
        "Applicant is split into 2 types among 12 people (8 people or 67%, 4 people or 33%), its weight by size."
        in page
    )
    assert "--preferences Applicant=given.csv" in page


def test_one_type_is_told_with_what_speaks_for_it():
    part = StakeholderGroups(
        stakeholder="Ward", by="types", weight="size", people=10,
        groups=({"name": "Ward", "people": 10, "share": 1.0, "weight": 1.0},),
        tried=({"types": 1, "log_likelihood": -0.5, "shortfall": 0.01, "standard_error": 0.02},
               {"types": 2, "log_likelihood": -0.49, "shortfall": 0.0, "standard_error": 0.0}),
    )  # fmt: skip
    assert part.sentences == (
        "Ward stays whole: 1 type among 10 people.",
        "Held-out log-likelihood per comparison: 1 type -0.5000 (short by 0.0100, standard error 0.0200); 2 types -0.4900 (the best).",
    )
    assert part.model_copy(update={"by": "group_id", "tried": ()}).sentences == (
        "Ward stays whole: 1 group among 10 people.",
    )


def test_sentences_tell_how_groups_were_found():
    part = StakeholderGroups(
        stakeholder="Ward", by="types", weight="equal", people=10,
        groups=tuple({"name": f"Ward (type {n})", "people": 5, "share": 0.5, "weight": 0.5} for n in (1, 2)),
        tried=({"types": 1, "log_likelihood": -0.5, "shortfall": 0.1, "standard_error": 0.02},
               {"types": 2, "log_likelihood": -0.4, "shortfall": 0.0, "standard_error": 0.0}),
        unsure=0.2,
    )  # fmt: skip
    assert part.sentences == (
        "Ward is split into 2 types among 10 people (5 people or 50%, 5 people or 50%), its weight in equal parts.",
        "Held-out log-likelihood per comparison: 1 type -0.5000 (short by 0.1000, standard error 0.0200); 2 types -0.4000 (the best).",
        "20% of the people are not clearly of one type.",
    )
