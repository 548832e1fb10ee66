"""Enrolments: the form of the file, bands that a spreadsheet spoilt, what is refused, and counts of the public file."""

from __future__ import annotations

import logging
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.cases.education.enrolments import (
    BANDS,
    EDUCATION,
    MODULES,
    RESULTS,
    band_of,
    first_enrolments,
    repaired_bands,
    simulate_enrolments,
    tidy_enrolments,
    true_chances,
)
from accordant.cases.loaders import load_file, tidiers
from accordant.tables.whole_tables import read_frame
from accordant.cases.loaders import repairs_of
from accordant.cases.loaders import simulated_table
from accordant.cases.files import read_case
from accordant.errors import DataError, InputError, MissingColumnError

HEADER = (
    "code_module,code_presentation,id_student,gender,region,highest_education,imd_band,age_band,num_of_prev_attempts,"
    "studied_credits,disability,final_result\n"
)
ROWS = (
    "AAA,2013J,7,M,Scotland,HE Qualification,90-100%,55<=,0,240,N,Pass\n"
    " BBB ,2014B,8,F,Wales,No Formal quals, 20-Oct ,0-35,1,60,N,Fail \n"
    "BBB,2013B,7,F,Wales,Lower Than A Level,,35-55,0,60,N,Withdrawn\n"
    "GGG,2014J,9,F,Wales,A Level or Equivalent,,35-55,0,30,Y,Distinction\n"
)


@pytest.fixture
def file(tmp_path):
    """A small file in the same form."""
    path = tmp_path / "studentInfo.csv"
    path.write_text(HEADER + ROWS)
    return path


def loaded(file, **changes):
    case, _ = read_case("education")
    return load_file(file, case.data.replace(**changes), case.problem, {})


def test_another_file_of_the_form(file, caplog):
    with caplog.at_level(logging.WARNING, logger="accordant"):
        found = tidy_enrolments(read_frame(file))
    assert found["imd_band"].tolist() == ["90-100%", "10-20%", "unknown", "unknown"]
    assert found["Area_rank"].tolist()[:2] == [0.9, 0.1] and found["Area_rank"].isna().tolist()[2:] == [True, True]
    assert found["Education_level"].tolist() == [3, 0, 1, 2]
    assert found["Priority"].tolist() == ["other", "deprived or disabled", "unknown", "deprived or disabled"]
    assert found["code_module"].tolist() == ["AAA", "BBB", "BBB", "GGG"]
    assert [record.getMessage() for record in caplog.records] == [
        "The loader repaired imd_band in 1 of 4 rows: '20-Oct', for example, became '10-20%'."
    ]
    assert repairs_of(found) == (caplog.records[0].getMessage(),)
    assert repaired_bands(read_frame(file)) == 1


def test_a_tidy_table_stays_as_it_is(file, caplog):
    once = tidy_enrolments(read_frame(file))
    caplog.clear()
    pd.testing.assert_frame_equal(tidy_enrolments(once), once)
    assert not caplog.records and repaired_bands(once) == 0
    assert len(repairs_of(once)) == 1 and repairs_of(tidy_enrolments(once)) == repairs_of(once)


@pytest.mark.parametrize("loader", ["oulad", "oulad_first"])
def test_repairs_reach_the_data_and_every_part_of_it(file, loader):
    data = loaded(file, loader=loader)
    assert data.repairs == ("The loader repaired imd_band in 1 of 4 rows: '20-Oct', for example, became '10-20%'.",)
    assert data.take(np.array([1])).repairs == data.repairs
    file.write_text((HEADER + ROWS).replace(" 20-Oct ", "10-20%"))
    assert loaded(file, loader=loader).repairs == ()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "10-20%",
            "10-20",
            "10 - 20 %",
            "10\u201320",
            "20-Oct",
            "20-OCT",
            "Oct-20",
            "20 Oct",
            "20. Okt",
            "20/Oct/2017",
        ),
        *("20-Oct-17", "October 20, 2017", "10/20", "10/20/2017", "10/20/17", "2017-10-20", "2017-10-20 00:00:00"),
        *("2017-10-20T00:00", "20-ott", "20-out", "oct-20"),
    ],
)
def test_ways_to_write_the_band_that_is_a_date(text):
    assert band_of(text) == "10-20%"


@pytest.mark.parametrize(
    "text", ["20-Nov", "10-Oct", "30-Oct", "2017-10-21", "10-30", "15-25%", "100-110%", "20%", "?"]
)
def test_what_is_no_band(text):
    with pytest.raises(ValueError, match=r"0-10%, .*90-100%, or nothing"):
        band_of(text)


@given(st.sampled_from(BANDS), st.sampled_from(["", "%", " %"]), st.sampled_from(["-", " - ", "\u2013"]))
def test_every_band_is_read_however_it_is_written(band, percent, dash):
    low, high = band.removesuffix("%").split("-")
    assert band_of(f"{low}{dash}{high}{percent}") == band


def test_only_one_band_can_become_a_date():
    """A month before the dash and a day of it behind: that is why other bands are never guessed from dates."""
    pairs = [tuple(map(int, band.removesuffix("%").split("-"))) for band in BANDS]
    assert [(low, high) for low, high in pairs if 1 <= low <= 12 and 1 <= high <= 31] == [(10, 20)]
    assert [(low, high) for low, high in pairs if 1 <= high <= 12 and 1 <= low <= 31] == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("90-100%", "90-95%", "column 'imd_band', row 0: found '90-95%'; allowed: 0-10%"),
        (",N,Pass", ",maybe,Pass", "column 'disability', row 0: found 'maybe'; allowed: Y, N"),
        (",N,Pass", ",,Pass", "column 'disability', row 0: found nothing; allowed: Y, N"),
        ("No Formal quals", "Doctorate", "column 'highest_education', row 1: found 'Doctorate'; allowed: No Formal"),
        ("AAA,2013J", "HHH,2013J", "action in studentInfo.csv, line 2: 'HHH'.*AAA"),
        ("AAA,2013J", ",2013J", "studentInfo.csv, line 2: column 'code_module': found nothing"),
        ("Distinction", "Distinctoin", "outcome in studentInfo.csv, line 5: 'Distinctoin'; did you mean 'Distinction'"),
        (",final_result", ",result", "column 'final_result' is missing"),
        (",imd_band", ",band", "column 'Priority' is missing|column 'Area_rank' is missing"),
    ],
)
def test_errors_name_the_column_and_the_row(file, old, new, message):
    file.write_text((HEADER + ROWS).replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        loaded(file)


def test_as_a_log(file):
    data = loaded(file)
    assert data.log.actions.tolist() == [0, 1, 1, 6]
    assert [RESULTS[code] for code in data.log.outcomes] == ["Pass", "Fail", "Withdrawn", "Distinction"]
    assert not {"id_student", "code_module", "final_result"} & set(data.log.contexts)


def test_what_depends_on_the_module_taken_is_no_feature():
    case, _ = read_case("education")
    assert case.problem.actions == MODULES and case.problem.outcome_names == RESULTS
    assert not {"num_of_prev_attempts", "studied_credits", "gender", "age_band", "region"} & set(case.data.features)


def test_first_enrolments(file):
    kept = first_enrolments(tidy_enrolments(read_frame(file)))
    assert kept["id_student"].tolist() == [8, 7, 9] and kept["code_presentation"].tolist()[1] == "2013B"
    assert len(loaded(file, loader="oulad_first").log) == 3
    with pytest.raises(MissingColumnError, match="id_student"):
        first_enrolments(kept.drop(columns=["id_student"]))


def test_new_students_have_no_module_yet(file):
    tidy = tidiers.create("oulad")(read_frame(file).drop(columns=["code_module", "final_result"]))
    case, _ = read_case("education")
    assert {*case.data.features, "Priority"} <= set(tidy.columns)
    new = read_frame(file).drop(columns=["final_result"])
    assert len(tidiers.create("oulad_first")(new)) == 4  # each row is somebody to advise, whoever it is


def test_a_missing_band_column_is_named():
    with pytest.raises(MissingColumnError, match="imd_band"):
        repaired_bands(pd.DataFrame({"imd": ["0-10%"]}))


def test_a_simulated_file_can_be_read_again(tmp_path):
    case, _ = read_case("education")
    table = simulated_table(case, 0, 80)
    table.to_csv(tmp_path / "simulated.csv", index=False)
    again = loaded(tmp_path / "simulated.csv")
    assert [MODULES[code] for code in again.log.actions] == table["code_module"].tolist()
    assert np.array_equal(again.log.contexts["Area_rank"], table["Area_rank"], equal_nan=True)


def test_enrolments_are_drawn_as_their_simulator_states():
    """Shares of students, and what moves results in a module, written out."""
    table = simulate_enrolments(20_000, np.random.default_rng(0))
    students = table.drop_duplicates("id_student")
    assert len(students) == 20_000 - 2_400  # 12 in 100 enrolments are of somebody who has another one
    both = table[table["id_student"].duplicated(keep=False)].sort_values("id_student")
    for column in ("gender", "region", "highest_education", "Area_rank", "age_band", "disability"):
        first, second = both[column][::2].tolist(), both[column][1::2].tolist()
        assert list(map(str, first)) == list(map(str, second))
    for column, shares in {
        "gender": {"F": 0.45, "M": 0.55}, "disability": {"Y": 0.1, "N": 0.9},
        "region": dict.fromkeys(("Scotland", "Wales", "London Region", "North Region"), 0.25),
        "age_band": {"0-35": 0.7, "35-55": 0.29, "55<=": 0.01},
        "studied_credits": {30: 0.1, 60: 0.5, 90: 0.15, 120: 0.25}, "num_of_prev_attempts": {0: 0.88, 1: 0.1, 2: 0.02},
        "Education_level": {0: 0.01, 1: 0.4, 2: 0.43, 3: 0.145, 4: 0.015},
    }.items():  # fmt: skip
        assert students[column].value_counts(normalize=True).to_dict() == pytest.approx(shares, abs=0.015)
    assert students["Area_rank"].isna().mean() == pytest.approx(0.034, abs=0.006)
    ranks = students["Area_rank"].dropna()
    assert ranks.mean() == pytest.approx(0.45, abs=0.01) and ranks.nunique() == 10
    plain = (table["Education_level"] == 2) & (table["disability"] == "N") & table["Area_rank"].between(0.35, 0.55)
    for module, (women, passed) in {"BBB": (0.88, 0.39), "DDD": (0.40, 0.35), "FFF": (0.18, 0.38)}.items():
        here = table["code_module"] == module
        assert (table["gender"][here] == "F").mean() == pytest.approx(women, abs=0.03)
        assert (table["final_result"][here & plain] == "Pass").mean() == pytest.approx(passed, abs=0.1)


def test_chances_are_a_multinomial_logistic_model_written_out_for_two_students():
    students = pd.DataFrame({"Education_level": [2, 4], "Area_rank": [0.9, np.nan], "disability": ["N", "Y"]})
    chances = true_chances(students)
    rank = 0.9 - 0.45
    one = np.array([0.06 * np.exp(1.0 * rank), 0.35 * np.exp(0.6 * rank), 0.23 * np.exp(-0.2 * rank), 0.36])
    two = np.array([0.11 * np.exp(1.5 * 2 * 0.5 - 0.5), 0.27 * np.exp(1.5 * 2 * 0.25 - 0.35),
                    0.18 * np.exp(-1.5 * 2 * 0.1 - 0.1), 0.44])  # fmt: skip
    assert chances[MODULES.index("DDD"), :, 0] == pytest.approx(one / one.sum())
    assert chances[MODULES.index("CCC"), :, 1] == pytest.approx(two / two.sum())
    assert chances.sum(axis=1) == pytest.approx(np.ones((7, 2)))


# --- the public file ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raw(real_data):
    return read_frame(real_data("education/oulad_studentInfo.csv"))


@pytest.fixture(scope="module")
def public(raw):
    return tidy_enrolments(raw)


@pytest.mark.long
def test_counts_of_the_public_file(raw, public):
    assert len(public) == 32_593 and public["id_student"].nunique() == 28_785
    assert (public["id_student"].value_counts() > 1).sum() == 3538
    assert repaired_bands(raw) == 3516 == Counter(public["imd_band"])["10-20%"]
    assert Counter(public["imd_band"])["unknown"] == 1111 == public["Area_rank"].isna().sum()
    assert set(public["imd_band"]) == {*BANDS, "unknown"}
    assert Counter(public["final_result"]) == {"Pass": 12_361, "Withdrawn": 10_156, "Fail": 7052, "Distinction": 3024}
    assert [Counter(public["code_module"])[name] for name in MODULES] == [748, 7909, 4434, 6272, 2934, 7762, 2534]
    assert set(public["Education_level"]) == set(range(len(EDUCATION)))
    assert Counter(public["Priority"]) == {"other": 22_367, "deprived or disabled": 9148, "unknown": 1078}
    assert len(first_enrolments(public)) == 28_785


def test_students_per_presentation_make_the_three_sizes(public):
    """The sizes that the reward tables declare."""
    groups = public.groupby("code_module")
    size = (groups.size() / groups["code_presentation"].nunique()).round().astype(int).to_dict()
    assert size == {"AAA": 374, "BBB": 1977, "CCC": 2217, "DDD": 1568, "EEE": 978, "FFF": 1940, "GGG": 845}


def test_places_are_half_as_many_again_as_were_taken(public):
    case, _ = read_case("education")
    (places,) = (each.parameters["budgets"] for each in case.strategies if each.name == "constrained")
    taken = public["code_module"].value_counts(normalize=True)
    assert all(abs(places[name] - 1.5 * taken[name]) <= 0.005 for name in MODULES)


@pytest.mark.long
def test_the_public_file_as_a_log(real_data):
    data = loaded(real_data("education/oulad_studentInfo.csv"))
    assert np.bincount(data.log.outcomes).tolist() == [3024, 12_361, 7052, 10_156]
    assert np.isnan(data.log.contexts["Area_rank"]).sum() == 1111


def test_a_file_that_is_no_enrolments(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="column 'code_module' is missing"):
        loaded(tmp_path / "other.csv")
