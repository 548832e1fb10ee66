"""``--staleness``: the section, the page, the terminal and the command; results without it stay as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.errors import SpecError
from accordant.naming import Named
from accordant.slates.case import read_slates
from accordant.slates.evaluation import staleness_price
from accordant.slates.market import serve
from accordant.slates.measures import measures
from accordant.slates.options import SlateOptions, command_line
from accordant.slates.page import render_slates
from accordant.slates.result import SlateResult
from accordant.slates.rule import rules
from accordant.slates.sources import market_source
from accordant.slates.section import open_slates, show_slates
from accordant.slates.terminal import print_slates

LIBRARY = Path(__file__).parents[2] / "examples" / "own_slates" / "library.yaml"


def few(**others):
    return SlateOptions(
        **(
            {"requests": 12, "resamples": 100, "strategies": (Named("nash_slate"),), "data": str(LIBRARY.parent)}
            | others
        )
    )


@pytest.fixture(scope="module")
def plain():
    return show_slates(open_slates(LIBRARY, few())).to_json()


@pytest.fixture(scope="module")
def content():
    return show_slates(open_slates(LIBRARY, few(staleness=1))).to_json()


@pytest.fixture(scope="module")
def undone():
    return show_slates(open_slates(LIBRARY, few(staleness=0))).to_json()


def test_every_rule_and_every_measure_has_a_price(content):
    found = content["staleness"]
    assert (found["staleness"], found["batches"], found["at_once"], found["rounds"]) == (1, 4, 2, 2)
    assert list(found["rules"]) == [each["label"] for each in content["rules"]]
    labels = [each["label"] for each in content["columns"]]
    assert all(list(row) == labels for row in found["rules"].values())
    assert any(each["value"] for row in found["rules"].values() for each in row.values())
    assert SlateResult.read(content).to_json() == content
    assert "--staleness 1" in command_line(content) and content["options"]["staleness"] == 1


def test_the_page_tells_it(content, plain):
    page = render_slates(content)
    assert 'id="staleness"' in page and "What an old state costs" in page and 'href="#staleness"' in page
    assert "2 of 4 batches are decided at once" in page and "1 batch late" in page
    assert "taleness" not in render_slates(plain)


def test_the_terminal_says_it_in_one_line(content, plain, capsys, tmp_path):
    print_slates(SlateResult.read(content), tmp_path)
    told = " ".join(capsys.readouterr().out.split())
    assert "- Rules see the state of 1 batch ago: 2 of 4 batches are decided at once, all in 2 rounds." in told
    assert f"are not shown. {content['trial']['chosen']}: worst off " in told
    print_slates(SlateResult.read(plain), tmp_path)
    assert "batch ago" not in capsys.readouterr().out


@pytest.mark.long
def test_without_it_nothing_changes(plain, undone):
    assert "staleness" not in plain and "staleness" not in plain["options"]
    assert undone["options"] == plain["options"] | {"staleness": 0}
    assert {name: each for name, each in undone.items() if name != "options"} == {
        name: each for name, each in plain.items() if name != "options"
    }


def test_a_case_declares_it_and_the_option_overrides(tmp_path):
    case = tmp_path / "late.yaml"
    case.write_text(
        LIBRARY.read_text(encoding="utf-8").replace("  k: 5\n", "  k: 5\n  staleness: 3\n"), encoding="utf-8"
    )
    assert open_slates(case, few()).source.market.staleness == 3
    assert open_slates(case, few(staleness=1)).source.market.staleness == 1
    assert open_slates(case, few(staleness=0)).source.market.staleness == 0
    case.write_text(case.read_text(encoding="utf-8").replace("staleness: 3", "staleness: 1.5"), encoding="utf-8")
    with pytest.raises(SpecError, match="staleness: Input should be a valid integer"):
        open_slates(case, few())


@pytest.mark.parametrize("wrong", ["-1", "1.5", "often"])
def test_a_wrong_option_is_refused(wrong):
    run = CliRunner().invoke(app, ["slate", str(LIBRARY), "--staleness", wrong])
    assert run.exit_code == 2 and "--staleness" in run.output


@pytest.mark.long
def test_real_tours_that_are_served_late_overload_places(real_data):
    """A rule that reads loads sends visitors to the same places until it sees them; who never reads them pays nothing."""
    declared = read_slates("tourism")[0].slates
    market = market_source(declared, 0, real_data("tourism/traj-Edin.csv")).market
    made = {name: rules.create("stakeholder_slate", {"stakeholder": name}) for name in ("Residents", "Traveller")}
    late, fresh = ({name: serve(rule, replace(market, staleness=n), 5) for name, rule in made.items()} for n in (5, 0))
    columns = {name: measures.create(name) for name in ("overload", "ndcg", "exposure_gini")}
    found = staleness_price(late, fresh, columns, resamples=400)
    assert (found.at_once, found.rounds, found.batches) == (6, 6, 36)
    assert found.rules["Residents"]["overload"].better is found.rules["Residents"]["exposure_gini"].better is False
    assert found.rules["Residents"]["overload"].estimate.low > 0.3
    assert max(abs(each.estimate.value) for each in found.rules["Traveller"].values()) < 1e-3
