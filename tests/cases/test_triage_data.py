"""Emergency visits: the form of the files, what is missing, what leaks, and counts of the public file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from accordant.cases.loaders import load_file, tidiers
from accordant.tables.whole_tables import read_frame
from accordant.cases.loaders import simulated_table
from accordant.deliberation.sources import deliberation_source
from accordant.cases.files import read_case
from accordant.deliberation.case import read_deliberation
from accordant.cases.triage.visits import ACTIONS, LEAKAGE, OUTCOMES, as_log, simulate_visits, tidy_visits
from accordant.deliberation.cases.triage.scenarios import ktas_scenario, nurse_noise
from accordant.errors import DataError

HEADER = (
    "Group;Sex;Age;Patients number per hour;Arrival mode;Injury;Chief_complain;Mental;Pain;NRS_pain;SBP;DBP;HR;RR;BT;"
    "Saturation;KTAS_RN;Diagnosis in ED;Disposition;KTAS_expert;Error_group;Length of stay_min;KTAS duration_min;"
    "mistriage\n"
)
ROWS = (
    "2;1;56;12;3;2;right forearm burn;1;1;2;137;75;60;20;36.5;;4;Burn;1;5;4;64;3,95;1\n"
    "2;2;71;8;4;1;??;3;0;#BO\xde!;??;94;88;20;36,9;;2;Sepsis;3;1;0 ;108;9,83;0 \n"
    "2;2;16;14;7;1;caf\xe9 burn; 4 ;1;10;169;??;??;??;??;;1;Arrest;6;1;0 ;0;17;0 \n"
)


@pytest.fixture
def file(tmp_path):
    """A small file of another site in the same form."""
    path = tmp_path / "ktas_site2.csv"
    path.write_bytes((HEADER + ROWS).encode("latin-1"))
    return path


@pytest.fixture(scope="module")
def public(real_data):
    return tidy_visits(read_frame(real_data("triage/ktas_site1.csv"), ";", "latin-1"))


def raw(file):
    return read_frame(file, ";", "latin-1")


def counts(column):
    return column.value_counts().to_dict()


def test_another_file_of_the_form(file):
    visits = tidy_visits(raw(file))
    assert visits["Sex"].tolist() == ["female", "male", "male"]
    assert visits["Arrival_mode"].tolist() == ["private vehicle", "private ambulance", "other"]
    assert visits["Injury"].tolist() == ["yes", "no", "no"]
    assert visits["Mental"].tolist() == ["alert", "pain", "unresponsive"]
    assert visits["Age_band"].tolist() == ["40 to 64", "65 and older", "under 40"]
    assert visits["Chief_complain"].isna().tolist() == [False, True, False]
    assert visits["Chief_complain"][2] == "caf\xe9 burn"
    assert visits["NRS_pain"].isna().tolist() == [False, True, False]
    assert visits["BT"].tolist()[:2] == [36.5, 36.9] and np.isnan(visits["BT"][2])
    assert visits["KTAS_duration_min"].tolist() == [3.95, 9.83, 17.0]
    assert visits["Error_group"].tolist() == ["4", "0", "0"] and visits["mistriage"].tolist() == ["1", "0", "0"]
    assert "Saturation" not in visits.columns
    assert visits["Group"].tolist() == ["2", "2", "2"]


def test_a_tidy_table_stays_as_it_is(file):
    visits = tidy_visits(raw(file))
    pd.testing.assert_frame_equal(tidy_visits(visits), visits)
    tidy = tidiers.create("ktas")
    pd.testing.assert_frame_equal(tidy(tidy(raw(file))), tidy(raw(file)))


def test_the_log_holds_no_leak(file):
    log = tidiers.create("ktas")(raw(file))
    assert not set(LEAKAGE) & set(log.columns)
    assert log["Action"].tolist() == ["Can_wait", "Immediate", "Immediate"]
    assert log["Outcome"].tolist() == ["Could_wait", "Needed_immediate", "Needed_immediate"]
    case, _ = read_case("triage")
    for name in LEAKAGE:  # whoever lists one as a feature is told that there is no such column
        leaking = case.data.replace(features=(*case.data.features, name))
        with pytest.raises(DataError, match=f"column '{name}' is missing"):
            load_file(file, leaking, case.problem, {})


def test_new_visits_have_no_levels_yet(file):
    log = tidiers.create("ktas")(raw(file).drop(columns=["KTAS_RN", "KTAS_expert", "mistriage"]))
    assert set(read_case("triage")[0].data.features) <= set(log.columns)
    assert not {"Action", "Outcome"} & set(log.columns)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (";1;56;", ";3;56;", r"column 'Sex', row 0: found '3'; allowed: 1 \(female\), 2 \(male\)"),
        (";1;56;", ";1;old;", "column 'Age', row 0: found 'old'; allowed: a number"),
        (";4;1;", ";8;1;", "column 'Arrival_mode', row 1: found '8'"),
        ("; 4 ;", ";5;", "column 'Mental', row 2: found '5'"),
        (";;2;Sepsis", ";;6;Sepsis", "column 'KTAS_RN', row 1: found '6'; allowed: 1, 2, 3, 4, 5"),
        (";6;1;0 ;", ";6;??;0 ;", "column 'KTAS_expert', row 2: found missing; allowed"),
        (";64;3,95", ";long;3,95", "column 'Length_of_stay_min', row 0: found 'long'"),
        (";137;", ";1,3,7;", "column 'SBP', row 0: found '1,3,7'"),
        (";137;", ";inf;", "column 'SBP', row 0: found 'inf'"),
    ],
)
def test_errors_name_the_column_and_the_row(file, old, new, message):
    text = (HEADER + ROWS).replace(old, new, 1)
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        tidy_visits(raw(file))


def test_a_missing_column_is_named(file):
    case, _ = read_case("triage")
    for name in ("Mental", "Sex", "BT"):
        short = raw(file).drop(columns=[name])
        short.to_csv(file, sep=";", index=False, encoding="latin-1")
        with pytest.raises(DataError, match=rf"ktas_site2.csv: column '{name}' is missing"):
            load_file(file, case.data, case.problem, {})
        file.write_bytes((HEADER + ROWS).encode("latin-1"))


def test_a_separator_that_the_header_lacks_means_commas(tmp_path):
    """So ``accordant simulate triage`` writes what ``accordant run triage --data`` reads."""
    case, _ = read_case("triage")
    table = simulated_table(case, 0, 60)
    path = tmp_path / "simulated.csv"
    table.to_csv(path, index=False)
    again = load_file(path, case.data, case.problem, {})
    assert [case.problem.actions[code] for code in again.log.actions] == table["Action"].tolist()
    assert np.array_equal(again.log.contexts["SBP"], table["SBP"], equal_nan=True)


def test_encodings(file):
    assert "caf\xe9" in read_frame(file, ";", "latin-1")["Chief_complain"][2]
    with pytest.raises(DataError, match="not a readable CSV file"):
        read_frame(file, ";")
    with pytest.raises(DataError, match="'latin-7000' is no encoding"):
        read_frame(file, ";", "latin-7000")


def test_urgency_bands():
    levels = pd.DataFrame({"KTAS_RN": [1, 2, 3, 4, 5], "KTAS_expert": [1, 2, 3, 4, 5]})
    log = as_log(levels)
    mapped = read_case("triage")[0].problem.outcome_to_action
    assert log["Action"].tolist() == ["Immediate", "Immediate", "Urgent", "Can_wait", "Can_wait"]
    assert [mapped[outcome] for outcome in log["Outcome"]] == log["Action"].tolist()
    assert set(ACTIONS) == set(OUTCOMES) == {1, 2, 3, 4, 5}


def test_noise_of_nurses_by_hand():
    visits = pd.DataFrame({"KTAS_expert": [1, 1, 3, 3, 3, 3], "KTAS_RN": [1, 2, 3, 3, 3, 5]})
    noise = nurse_noise(visits)
    assert noise[0].tolist() == [0.5, 0.5, 0, 0, 0] and noise[2].tolist() == [0, 0, 0.75, 0, 0.25]
    assert np.isnan(noise[[1, 3, 4]]).all()


def test_counts_of_the_public_file(public):
    assert len(public) == 688
    assert counts(public["Sex"]) == {"male": 359, "female": 329}
    assert counts(public["Injury"]) == {"no": 548, "yes": 140}
    assert counts(public["Mental"]) == {"alert": 636, "verbal": 25, "pain": 20, "unresponsive": 7}
    assert counts(public["KTAS_RN"]) == {1: 7, 2: 77, 3: 258, 4: 286, 5: 60}
    assert counts(public["KTAS_expert"]) == {1: 14, 2: 72, 3: 270, 4: 276, 5: 56}
    assert counts(public["mistriage"]) == {"0": 599, "1": 32, "2": 57}
    assert (public["Error_group"] == "0").sum() == 599
    assert counts(public["Arrival_mode"]) == {
        "walking": 59,
        "public ambulance": 167,
        "private vehicle": 431,
        "private ambulance": 18,
        "other": 13,
    }
    signs = ["SBP", "DBP", "HR", "RR", "BT", "NRS_pain"]
    assert public[signs].isna().sum().tolist() == [18, 18, 16, 13, 14, 318]
    assert (public["Age"].min(), public["Age"].max(), round(public["Age"].mean(), 1)) == (16, 95, 51.9)
    duration = public["KTAS_duration_min"]
    assert (duration.min(), duration.max()) == (2.33, 17.37) and duration.median() == pytest.approx(6.71)


def test_labels_agree_with_the_values_of_the_public_file(public):
    """What the codes mean shows in the data: complaints by sex, levels by mental state, mistriage by both levels."""
    complaints = public["Chief_complain"].fillna("").str.lower()
    assert set(public["Sex"][complaints.str.contains("vagina|menstr")]) == {"female"}
    means = public.groupby("Mental")["KTAS_expert"].mean().round(2)
    assert means[["alert", "verbal", "pain", "unresponsive"]].tolist() == [3.5, 3.24, 2.05, 1.0]
    step = np.sign(public["KTAS_RN"] - public["KTAS_expert"])
    assert (step == public["mistriage"].map({"0": 0, "1": -1, "2": 1})).all()
    assert (public["Pain"][public["NRS_pain"].isna()] == "no").sum() == 315


def test_the_nurse_noise_of_the_public_file(public):
    noise = nurse_noise(public)
    assert np.allclose(noise.sum(axis=1), 1)
    assert np.diag(noise).round(3).tolist() == [0.5, 0.819, 0.87, 0.906, 0.857]
    right = (np.diag(noise) * [14, 72, 270, 276, 56]).sum()
    assert round(right) == 599


def test_the_public_file_as_a_log(real_data):
    case, _ = read_case("triage")
    data = load_file(real_data("triage/ktas_site1.csv"), case.data, case.problem, {})
    assert np.bincount(data.log.actions).tolist() == [84, 258, 346]
    assert np.bincount(data.log.outcomes).tolist() == [86, 270, 332]
    assert not set(LEAKAGE) & set(data.log.contexts)
    assert not {"Sex", "Age_band"} & set(case.data.features)


def test_deliberations_on_the_public_file(real_data):
    path = real_data("triage/ktas_site1.csv")
    declared = read_deliberation("triage")[0].deliberation
    found = deliberation_source(declared, path)
    assert found.label == f"ktas_site1.csv (sha256 {found.sha256[:12]})" and not found.simulated
    visits = tidy_visits(read_frame(path, ";", "latin-1"))
    for seed in range(3):
        scenario = found(seed)
        assert scenario.hash == ktas_scenario(visits, seed).hash
        for patient in scenario.claimants:
            visit = visits.iloc[int(patient.id.removeprefix("v")) - 1]
            assert (patient.facts["acuity"], patient.facts["sex"]) == (visit["KTAS_expert"], visit["Sex"])


def test_simulated_visits_look_like_the_public_file():
    case, _ = read_case("triage")
    table = simulated_table(case, 0, 4000)
    shares = table["Outcome"].value_counts(normalize=True)
    assert shares["Needed_immediate"] == pytest.approx(0.125, abs=0.02)
    assert shares["Needed_urgent"] == pytest.approx(0.392, abs=0.03)
    mapped = table["Outcome"].map(case.problem.outcome_to_action)
    assert 0.85 < (mapped == table["Action"]).mean() < 0.98  # nurses err now and then
    assert table["Age"].between(16, 95).all() and (table["NRS_pain"].isna() == (table["Pain"] == "no")).all()
    alert = table.groupby("Outcome")["Mental"].agg(lambda column: (column == "alert").mean())
    assert alert["Needed_immediate"] < alert["Needed_urgent"] - 0.1
    assert 0 < table["SBP"].isna().mean() < 0.05 and not set(LEAKAGE) & set(table.columns)


def test_visits_are_drawn_level_by_level_as_their_simulator_states():
    """Shares and means by the level that experts gave, 1 to 5, written out."""
    visits = simulate_visits(20_000, np.random.default_rng(0))
    expert = visits["KTAS_expert"]
    step = visits["KTAS_RN"] - expert
    assert set(step) == {-1, 0, 1} and visits["KTAS_RN"].between(1, 5).all()
    middle = expert.between(2, 4)
    assert (step[middle] == -1).mean() == pytest.approx(0.05, abs=0.008)  # more urgent than the experts say
    assert (step[middle] == 1).mean() == pytest.approx(0.08, abs=0.008)
    assert expert.value_counts(normalize=True).sort_index().tolist() == pytest.approx(
        [0.02, 0.105, 0.392, 0.401, 0.082], abs=0.01
    )
    means = {
        "Age": (66, 59, 54, 48, 52),  # 67 before ages above 95 count as 95
        "SBP": (134,) * 5, "DBP": (80,) * 5, "HR": (85,) * 5, "RR": (25, 20, 19, 18.5, 18.5), "BT": (36.6,) * 5,
        "NRS_pain": (5, 5, 5, 4, 3),
    }  # fmt: skip
    spread = {"SBP": 25, "DBP": 14, "HR": 16, "RR": 2, "BT": 0.5}
    shares = {
        ("Injury", "yes"): (0.07, 0.11, 0.09, 0.35, 0.18), ("Pain", "yes"): (0.07, 0.29, 0.49, 0.71, 0.38),
        ("Arrival_mode", "public ambulance"): (0.65, 0.45, 0.3, 0.2, 0.14), ("Sex", "male"): (0.5,) * 5,
        ("Mental", "unresponsive"): (0.6, 0, 0, 0, 0),
    }  # fmt: skip
    for level, disturbed in enumerate((2.0, 1.4, 1.1, 0.9, 0.9)):
        here = visits[expert == level + 1]
        for name, by_level in means.items():
            error = 5 * here[name].std() / np.sqrt(here[name].count())
            assert here[name].mean() == pytest.approx(by_level[level], abs=max(error, 0.4))
        for name, deviation in spread.items():
            assert here[name].std() == pytest.approx(np.hypot(deviation * disturbed, 0.29 * (name != "BT")), rel=0.1)
            assert here[name].isna().mean() == pytest.approx(0.02, abs=0.015)
        for (name, value), by_level in shares.items():
            assert (here[name] == value).mean() == pytest.approx(by_level[level], abs=0.07 if level == 0 else 0.04)
        reacts = (0.85 * 0.4, 0.28, 0.03, 0.03, 0.05)[level] / 2  # of level 1, unless unresponsive
        for state in ("verbal", "pain"):
            assert (here["Mental"] == state).mean() == pytest.approx(reacts, abs=0.05 if level == 0 else 0.02)
