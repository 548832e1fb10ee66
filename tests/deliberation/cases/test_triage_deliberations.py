"""Deliberations as cases declare them: the built-in ones, own tables of patients, and messages about what is wrong."""

from __future__ import annotations

import copy
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from accordant.agents.agent import agents, create
from accordant.cases import files
from accordant.deliberation.case import (
    DEFAULT_AGENTS,
    DeliberationCase,
    DeliberationSpec,
    MarginalSpec,
    NamedSpec,
    ResourceSpec,
)
from accordant.deliberation.sources import deliberation_source
from accordant.cases.files import read_case
from accordant.deliberation.case import read_deliberation
from accordant.cases.triage.estimates import (
    FRAILTY,
    GAIN,
    HIGHEST_CHANCE,
    NOISE,
    NORMAL,
    PER_SIGN,
    RISK,
    UNRESPONSIVE,
)
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.slates.case import read_slates
from accordant.errors import DataError, DataNotFoundError, InputError, SpecError, UnknownNameError

DELIBERATIONS = ("triage", "triage-random")
OWN = {
    "name": "ward",
    "title": "Who gets which bed",
    "deliberation": {
        "file": "ward.csv",
        "id": "who",
        "patients": 3,
        "resources": [{"name": "bed", "capacity": 2}, {"name": "nurse", "capacity": 1.5, "portion": 0.5}],
        "protected": ["sex"],
        "marginal": {"fact": "sex", "value": "f"},
        "agents": ["utilitarian", {"name": "rawlsian", "parameters": {"concession": "boulware"}}],
        "settle": "nash_product",
    },
}
TABLE = "who,arrival,severity,sex,insured,demand_nurse\nann,1,0.9,f,true,0.5\nbob,2,0.2,m,false,0\ncem,3,0.5,m,true,1\n"


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No data folder and an empty cache."""
    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")


def ward(folder, *, table=TABLE, **changes):
    """Write the own case with some keys of its deliberation changed, and return what is read back."""
    case = copy.deepcopy(OWN)
    case["deliberation"] |= changes
    (folder / "ward.csv").write_text(table, encoding="utf-8")
    path = folder / "ward.yaml"
    path.write_text(yaml.safe_dump(case, sort_keys=False), encoding="utf-8")
    return read_deliberation(path)


def source(folder, **changes):
    case, beside = ward(folder, **changes)
    return deliberation_source(case.deliberation, None, beside)


# --- the built-in ones -----------------------------------------------------------------------------------------


def test_built_in_deliberations():
    with pytest.raises(UnknownNameError) as refused:
        read_deliberation("nothing")
    assert refused.value.allowed[:-1] == DELIBERATIONS
    for name in DELIBERATIONS:
        case, beside = read_deliberation(name)
        assert case.name == name and beside is None
        declared = case.deliberation
        assert [agent.name for agent in declared.agents] == ["utilitarian", "rawlsian"]
        assert declared.settle.name == "bargain" and declared.patients == 12
        assert declared.marginal.fact in declared.protected
        thresholds = [(each.metric, each.threshold) for each in declared.scope.criteria]
        assert thresholds == [
            ("access_gap", 0.25),
            ("equal_opportunity_gap", 0.34),
            ("need_capture", 0.6),
            ("benefit_ratio", 0.75),
        ]
        assert all(each.rationale and each.chosen_by == "the authors of the case" for each in declared.scope.criteria)
        assert DeliberationSpec(**declared.model_dump(mode="json")) == declared  # as a record keeps it


@pytest.mark.long
@pytest.mark.parametrize("name", DELIBERATIONS)
def test_without_data_patients_are_simulated_and_it_says_so(name):
    case, beside = read_deliberation(name)
    found = deliberation_source(case.deliberation, None, beside)
    assert found.simulated and found.sha256 is None and found.label.startswith("SIMULATED")
    scenario = found(3)
    assert scenario.hash == found(3).hash != found(4).hash
    assert len(scenario.ids) == 12 and scenario.capacity.tolist() == [5]
    assert scenario.protected == case.deliberation.protected
    groups = [
        criterion.params.get("group", case.deliberation.marginal.fact) for criterion in case.deliberation.scope.criteria
    ]
    assert set(groups) <= set(scenario.facts)
    values = {value for seed in range(5) for value in found(seed).column(case.deliberation.marginal.fact)}
    assert case.deliberation.marginal.value in values


def test_triage_random_is_the_declared_distribution():
    case, _ = read_deliberation("triage-random")
    assert deliberation_source(case.deliberation)(9).hash == random_scenario(9).hash
    with pytest.raises(InputError, match="always simulated"):
        deliberation_source(case.deliberation, "somewhere")


def test_a_case_with_both_is_both():
    assert read_case("triage")[0].parts["deliberation"] == read_deliberation("triage")[0].deliberation
    assert read_case("lending")[0].parts == {}


@pytest.mark.parametrize("read", [read_deliberation, read_slates])
def test_a_part_that_is_empty_is_not_declared(read, tmp_path):
    (tmp_path / "empty.yaml").write_text("name: x\ntitle: x\nslates:\ndeliberation: null\n", encoding="utf-8")
    with pytest.raises(SpecError, match="declares no (slates|deliberation): the key .* is missing or empty"):
        read(tmp_path / "empty.yaml")


def test_parts_stand_under_their_own_keys_and_are_read_back():
    """As JSON a case looks like its file, and that is what a run folder holds."""
    case = read_case("triage")[0]
    written = case.model_dump(mode="json")
    assert written["deliberation"]["loader"] == "ktas"
    assert {"parts", "slates"}.isdisjoint(
        written
    )  # what nobody declared must not stand there: others could not read it
    assert type(case)(**written) == case == case.replace(title=case.title)
    assert type(case)(**written | {"slates": None}) == case
    assert case.replace(deliberation=None).parts == {}
    assert case.model_dump(include={"name"}) == {"name": "triage"}
    assert "deliberation" not in case.model_dump(exclude={"deliberation"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": {"slates": {}}}, "unknown key 'parts'"),
        ({"parts": {}}, "unknown key 'parts'"),
        ({"parts": None}, "unknown key 'parts'"),
        ({"deliberatoin": {}}, "unknown key 'deliberatoin'; did you mean 'deliberation'"),
        ({"deliberation": ["x"]}, "deliberation: must hold keys and values; found list"),
        ({"deliberation": {"resuorces": []}}, "deliberation: unknown key 'resuorces'; did you mean 'resources'"),
    ],
)
def test_a_wrong_part_is_named(changes, message):
    case = read_case("triage")[0]
    with pytest.raises(SpecError, match=message):
        type(case)(**case.model_dump(mode="json") | changes)


# --- patients of one's own -------------------------------------------------------------------------------------


def test_patients_from_an_own_table(tmp_path):
    case, beside = ward(tmp_path)
    assert beside == tmp_path
    assert [agent.name for agent in case.deliberation.agents] == ["utilitarian", "rawlsian"]
    assert case.deliberation.agents[1].parameters == {"concession": "boulware"}
    found = deliberation_source(case.deliberation, None, beside)
    assert found.sha256 == hashlib.sha256(TABLE.encode()).hexdigest()
    assert found.label == f"ward.csv (sha256 {found.sha256[:12]})" and not found.simulated
    scenario = found(0)
    assert scenario.ids == ("ann", "bob", "cem") and scenario.protected == ("sex",)
    assert dict(scenario.claimants[0].facts) == {"arrival": 1, "severity": 0.9, "sex": "f", "insured": True}
    assert scenario.column("sex").tolist() == ["f", "m", "m"]
    insured = source(tmp_path, table=TABLE.replace("false", ""))(0).column("insured").tolist()
    assert insured == [True, None, True]  # what is not protected may be missing
    assert scenario.demand.tolist() == [[1, 1], [1, 0], [1, 2]]  # a bed each, and half nurses as the table says
    assert scenario.capacity.tolist() == [2, 3]


def test_only_the_declared_facts(tmp_path):
    scenario = source(tmp_path, facts=["severity", "sex"])(0)
    assert scenario.facts == ("severity", "sex")


@pytest.mark.long
def test_who_is_drawn_depends_on_seed_and_ids_alone(tmp_path):
    rows = [f"p{number},{number + 1},0.5,f,true,0" for number in range(30)]
    header = TABLE.partition("\n")[0]
    table, turned = ("\n".join([header, *each]) + "\n" for each in (rows, rows[::-1]))
    first = source(tmp_path, table=table, patients=8)
    drawn = [first(seed).ids for seed in range(25)]
    hashes = [first(seed).hash for seed in range(25)]
    second = source(tmp_path, table=turned, patients=8)
    assert [second(seed).hash for seed in range(25)] == hashes and len(set(drawn)) == 25
    assert {len(ids) for ids in drawn} == {8}
    counts = np.array([sum(f"p{number}" in first(seed).ids for seed in range(300)) for number in range(30)])
    assert counts.sum() == 2400 and counts.min() > 50 and counts.max() < 112  # 80 on average, standard deviation 7.7


def test_all_rows_by_default(tmp_path):
    case = copy.deepcopy(OWN)
    del case["deliberation"]["patients"]
    (tmp_path / "ward.csv").write_text(TABLE)
    (tmp_path / "ward.yaml").write_text(yaml.safe_dump(case))
    declared, beside = read_deliberation(tmp_path / "ward.yaml")
    found = deliberation_source(declared.deliberation, None, beside)
    assert found(0).ids == ("ann", "bob", "cem") and found(0).claimants == found(1).claimants


def test_another_separator(tmp_path):
    scenario = source(tmp_path, table=TABLE.replace(",", ";"), separator=";")(0)
    assert scenario.ids == ("ann", "bob", "cem")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"patients": 4}, "ward.csv: 3 rows; 4 patients are declared"),
        ({"id": "woh"}, "ward.csv: column 'woh' is missing; did you mean it by 'who'"),
        ({"facts": ["sex", "sevrity"]}, "column 'sevrity' is missing; did you mean it by 'severity'"),
        ({"table": TABLE.replace("0.9", "bad")}, "row 0: column 'severity': found 'bad'; allowed: a number"),
        ({"table": TABLE.replace("0.9", "1.9")}, r"column 'severity', row 0: found 1.9; allowed: a number in \[0, 1\]"),
        ({"table": TABLE.replace("0.9", "")}, "column 'severity', row 0: found missing"),
        ({"table": TABLE.replace("ann,1", "ann,0")}, "column 'arrival', row 0: found 0"),
        ({"table": TABLE.replace("bob", "ann")}, "column 'who', row 1: the id 'ann' is there twice"),
        ({"table": TABLE.replace("bob", "")}, "column 'who', row 1: the id is missing"),
        (
            {"table": TABLE.replace("bob", "b" * 201)},
            "column 'who', row 1: the id has 201 characters; allowed: at most 200",
        ),
        ({"table": TABLE.replace("bob", "b\x07b")}, r"row 1: the id 'b\\x07b' holds control characters; allowed: none"),
        ({"table": TABLE.replace("bob", '"b\nb"')}, r"row 1: the id 'b\\nb' holds control characters"),
        ({"table": TABLE.replace("bob", "b\u202eb")}, r"row 1: the id 'b\\u202eb' holds control characters"),
        (
            {"table": TABLE.replace(",m,true", ",,true")},
            "column 'sex', row 2: a protected fact is missing; .*'unknown'",
        ),
        (
            {"marginal": {"fact": "sex", "value": "female"}},
            "ward.csv: nobody is in the marginal group sex = 'female'; .*: 'f', 'm'$",
        ),
        (
            {"marginal": {"fact": "arrival", "value": "1"}},
            "nobody is in the marginal group arrival = '1'; values in the file: 1, 2, 3",
        ),
        ({"table": TABLE.replace("0\n", "0,\n")}, "ward.csv, line 3: 7 fields; allowed: 6, as in the header"),
        ({"table": TABLE.replace("true,1", "true,x")}, "column 'demand_nurse', row 2: found 'x'; allowed: a number"),
        ({"table": TABLE.replace("true,1", "true,-1")}, "need in row 2 of column 'demand_nurse' is -1"),
        ({"table": TABLE.replace("true,1", "true,0.3")}, "in portions of 0.5"),
        ({"table": TABLE.replace("true,1", "true,")}, "need in row 2 of column 'demand_nurse' is nan"),
        ({"table": TABLE.replace("demand_nurse", "demand_nurze")}, "did you mean 'demand_nurse'"),
        ({"table": TABLE.partition("\n")[0] + "\n"}, "ward.csv has a header but no rows"),
        ({"loader": "tabel"}, "unknown patient loader 'tabel'; did you mean 'table'"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        source(tmp_path, **changes)


def test_acuity_has_five_levels(tmp_path):
    table = TABLE.replace("insured", "acuity").replace("true", "6").replace("false", "2")
    with pytest.raises(DataError, match=r"column 'acuity', row 0: found 6; allowed: a number in \[1, 5\]"):
        source(tmp_path, table=table)


def test_a_draw_may_hold_nobody_of_the_watched_group_but_the_file_must_hold_somebody(tmp_path):
    """A rare group is no error: where nobody of it is drawn, its access is not defined."""
    rows = [f"p{number},{number + 1},0.5,{'f' if number == 7 else 'm'},true,0" for number in range(30)]
    table = "\n".join([TABLE.partition("\n")[0], *rows]) + "\n"
    draw = source(tmp_path, table=table, patients=2)
    held = {"f" in draw(seed).column("sex").tolist() for seed in range(60)}
    assert held == {True, False}
    with pytest.raises(DataError, match="nobody is in the marginal group"):
        source(tmp_path, table=table.replace(",f,", ",m,"), patients=2)


def test_ids_of_any_alphabet_and_of_200_characters_will_do(tmp_path):
    table = TABLE.replace("ann", "é" * 200).replace("bob", "Åsa Öberg-7")
    assert set(source(tmp_path, table=table)(0).ids) == {"é" * 200, "Åsa Öberg-7", "cem"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protected": ["sxe"]}, "unknown protected fact 'sxe'; did you mean 'sex'"),
        ({"marginal": {"fact": "sxe", "value": "f"}}, "unknown fact of the marginal group: 'sxe'"),
    ],
)
def test_declared_facts_must_exist(tmp_path, changes, message):
    with pytest.raises(UnknownNameError, match=message):
        source(tmp_path, **changes)


# --- where files are looked for --------------------------------------------------------------------------------


def test_places_are_searched_in_order(tmp_path, monkeypatch):
    case, beside = ward(tmp_path)
    given, variable = tmp_path / "given", tmp_path / "variable"
    for folder, name in ((given, "dan"), (variable, "eve")):
        folder.mkdir()
        (folder / "ward.csv").write_text(TABLE.replace("ann", name))
    monkeypatch.setenv(files.VARIABLE, str(variable))
    for data, near, first in (
        (given, beside, "bob"),
        (given / "ward.csv", None, "bob"),
        (None, beside, "ann"),
        (None, None, "bob"),
    ):
        assert deliberation_source(case.deliberation, data, near)(0).ids[0] == first
    assert "dan" in deliberation_source(case.deliberation, given, beside)(0).ids
    assert "eve" in deliberation_source(case.deliberation, None, None)(0).ids
    with pytest.raises(DataNotFoundError, match="not found at"):
        deliberation_source(case.deliberation, tmp_path / "cache", beside)


def test_without_data_and_simulator_the_error_names_the_places(tmp_path):
    case, _ = ward(tmp_path)
    with pytest.raises(DataNotFoundError, match=r"ward.csv not found; it is looked for at --data PATH"):
        deliberation_source(case.deliberation, None, None)
    with pytest.raises(UnknownNameError, match="unknown scenario simulator 'triag'; did you mean 'triage'"):
        deliberation_source(case.deliberation.replace(simulator="triag"), None, None)


# --- files that declare a deliberation -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resource": []}, "unknown key 'resource'; did you mean 'resources'"),
        ({"resources": []}, "deliberation: resources: "),
        ({"resources": [{"name": "bed", "capacity": -1}]}, "deliberation: resources.0: capacity: "),
        ({"resources": [{"name": "bed", "capacity": 1.5}]}, "in portions of 1"),
        ({"resources": [{"name": "bed", "capacity": 1}] * 2}, "resource 'bed' is declared 2 times"),
        ({"facts": ["sex", "sex"]}, "fact 'sex' is declared 2 times"),
        ({"facts": ["who"]}, "column of ids, 'who', is no fact"),
        ({"patients": 0}, "deliberation: patients: "),
        ({"agents": []}, "deliberation: agents: "),
        ({"agents": [{"nam": "rawlsian"}]}, "did you mean 'name'"),
        ({"file": None}, "neither is declared"),
        ({"scope": {"id": "x"}}, "deliberation: scope: key"),
        ({"separator": "::"}, "deliberation: separator: "),
    ],
)
def test_wrong_declarations_name_the_key_and_the_file(tmp_path, changes, message):
    with pytest.raises(SpecError) as caught:
        ward(tmp_path, **changes)
    assert message in str(caught.value) and "ward.yaml" in str(caught.value)


def test_agents_and_settlement_have_defaults():
    declared = DeliberationSpec(simulator="triage", resources=[{"name": "bed", "capacity": 1}])
    assert [each.name for each in declared.agents] == ["utilitarian", "rawlsian"] and declared.settle.name == "bargain"


def test_the_default_agents_are_registered_and_none_is_made_to_do_wrong():
    for each in DEFAULT_AGENTS:
        assert each.name in agents.names()
        made = create(each.name, each.parameters)
        assert made.name == each.name and not made.adversarial


def test_what_is_no_deliberation(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown case 'triag'; did you mean 'triage'\? valid: triage, triage-"):
        read_deliberation("triag")
    with pytest.raises(UnknownNameError, match="unknown case 'lending'"):
        read_deliberation("lending")  # it exists, but nobody deliberates there
    (tmp_path / "own.yaml").write_text("name: a\ntitle: b\n")
    with pytest.raises(SpecError, match="own.yaml: declares no deliberation"):
        read_deliberation(tmp_path / "own.yaml")
    ward(tmp_path)
    with pytest.raises(SpecError, match="ward.yaml: declares a deliberation and no decision problem"):
        read_case(tmp_path / "ward.yaml")
    with pytest.raises(UnknownNameError, match="unknown case 'triage-random'"):
        read_case("triage-random")


@pytest.mark.parametrize("declared", [DeliberationSpec, ResourceSpec, MarginalSpec, NamedSpec, DeliberationCase])
def test_the_case_file_page_names_every_key(declared):
    page = Path(__file__).parents[3] / "docs" / "reference" / "case-file.md"
    _, _, section = page.read_text(encoding="utf-8").partition("\n## deliberation\n")
    words = set(re.findall(r"\w+", section if declared is not DeliberationCase else page.read_text(encoding="utf-8")))
    assert set(declared.model_fields) <= words


def test_the_deliberation_of_the_triage_page(tmp_path):
    """The YAML that the page shows can be read, and its table as well."""
    page = Path(__file__).parents[3] / "docs" / "methods" / "triage.md"
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "ward.yaml").write_text(shown, encoding="utf-8")
    rows = [f"p{number},{number},0.{number},{'fm'[number % 2]},0.5" for number in range(1, 10)]
    (tmp_path / "ward.csv").write_text("\n".join(["id,arrival,severity,sex,demand_nurse", *rows]) + "\n")
    case, beside = read_deliberation(tmp_path / "ward.yaml")
    scenario = deliberation_source(case.deliberation, None, beside)(1)
    assert len(scenario.ids) == 8 and scenario.capacity.tolist() == [3, 3] and scenario.demand.tolist() == [[1, 1]] * 8


def test_the_mapping_on_the_triage_page_is_the_one_in_the_code():
    text = (Path(__file__).parents[3] / "docs" / "methods" / "triage.md").read_text(encoding="utf-8")
    for name, values in (("risk = 1 − `p_without`", RISK), ("gain by a bed", GAIN)):
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {name}"))
        assert [float(cell) for cell in row.split("|")[2:-1]] == [values[level] for level in range(1, 6)]
    for number in (PER_SIGN, NOISE, HIGHEST_CHANCE, UNRESPONSIVE, *(factor for _, factor in FRAILTY[1:])):
        assert re.search(rf"\b{number:g}\b", text), number
    for low, high in NORMAL.values():
        assert f"{low}–{high}" in text  # noqa: RUF001 - as the page writes ranges
