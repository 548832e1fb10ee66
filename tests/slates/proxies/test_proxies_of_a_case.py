"""Voices in a built-in case, as a command builds them: files, a model behind a real HTTP server, and both."""

import json
import logging

import importlib.util
from pathlib import Path

import pytest

from accordant.agents.language import Limits
from accordant.errors import DataError, InputError, InvalidMoveError, UnknownNameError
from accordant.naming import Named
from accordant.agents.language.options import ModelOptions
from accordant.slates.proxies.sources import names_with_commas, with_proxies
from accordant.slates.options import SlateOptions
from accordant.slates.section import open_slates, show_slates
from accordant.slates.market import serve


def _load(path):
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("fake_rankers", path))
    spec.loader.exec_module(module)
    return module


fake = _load(Path(__file__).parents[1] / "rankers" / "conftest.py")
directly, warm, key = fake.directly, fake.warm, fake.key

REQUESTS = 3
RULES = ("utilitarian_slate", "seq_pav")
NAMES = ("Traveller", "Residents", "Small_attractions", "City", "Environment", "Platform")


@pytest.fixture
def server(warm):
    running = fake.fake.FakeServer()
    running.script(lambda handler, body: handler.chat(json.dumps(fake.ranked_well(body))))
    yield running
    running.close()


def opened_case(requests=REQUESTS):
    options = SlateOptions(requests=requests, strategies=tuple(map(Named, RULES)), resamples=100, floors=False)
    return open_slates("tourism-city", options)


@pytest.fixture(scope="module")
def opened():
    return opened_case()


def served(ready):
    found = [serve(ready.opened.rules[name], ready.opened.source.market, ready.opened.k) for name in RULES]
    return found[-1]


def model(server, **changes):
    return ModelOptions(server.url, "fake", **{"timeout": 5.0, **changes})


def test_nobody_speaks_unless_asked(opened):
    ready = with_proxies(opened, None, None)
    assert ready.opened is opened
    assert ready.proxies is None


def test_a_model_speaks_for_those_that_are_named(opened, server):
    ready = with_proxies(opened, model(server, agents=("Environment", "Residents")), None)
    assert server.requests == []
    served(ready)
    assert len(server.requests) == 2 * REQUESTS  # whatever the number of rules
    assert list(ready.proxies.rankers) == ["Residents", "Environment"]
    for voice in ready.proxies.summaries:
        assert (voice.asked, voice.passed, voice.fallbacks) == (REQUESTS, REQUESTS, 0)
        assert voice.usage["calls"] == REQUESTS
        assert voice.ranker["name"] == f"language model for {voice.stakeholder}"
    assert ready.proxies.warnings == ()
    assert {each.ranking.generated_by for each in ready.proxies.ballots} == {"model fake"}


def test_a_model_speaks_for_everybody_by_default(opened, server):
    ready = with_proxies(opened, model(server), None)
    served(ready)
    assert tuple(ready.proxies.rankers) == NAMES
    assert len(server.requests) == len(NAMES) * REQUESTS


@pytest.mark.long
def test_everything_that_is_measured_still_is(opened, server):
    ready = with_proxies(opened, model(server, agents=("Environment",)), None)
    content = show_slates(ready.opened).to_json()
    assert len(server.requests) == REQUESTS
    json.dumps(content | {"voices": ready.proxies.to_json()}, allow_nan=False)
    assert content["requests"]["n"] == REQUESTS


BROKEN = {
    "no JSON": "no JSON at all",
    "ignores the schema": {"answer": "i1"},
    "a refusal": lambda handler, body: handler.chat(None, refusal="I will not"),
    "repeated ids": {"ranking": ["i1", "i1"], "reasons": []},
    "unknown ids": {"ranking": ["i999"], "reasons": []},
    "500": lambda handler, body: handler.reply(500, "{}"),
    "never answers": lambda handler, body: handler.server.owner.closing.wait(5),
}


class OneTry(Limits):
    """Limits of an agent that asks once: nobody waits."""

    retries: int = 0


@pytest.mark.few(3)
@pytest.mark.parametrize("case", BROKEN)
def test_no_valid_ranking_is_an_error_or_a_counted_fallback(case, opened, server, monkeypatch):
    monkeypatch.setattr("accordant.agents.language.participant.Limits", OneTry)
    server.script(BROKEN[case])
    some = {"agents": ("Environment",), "timeout": 0.15 if case == "never answers" else 5.0}
    with pytest.raises(InvalidMoveError, match="ranking for 'Environment', request 'day1-1': model 'fake'"):
        served(with_proxies(opened, model(server, **some), None))
    ready = with_proxies(opened, model(server, fallback=True, **some), None)
    served(ready)
    [voice] = ready.proxies.summaries
    assert voice.fallbacks == voice.usage["fallbacks"] == voice.asked == REQUESTS
    assert voice.passed == REQUESTS  # the rule says what was declared
    assert ready.proxies.warnings == (
        f"NO RANKING CAME FROM THE LANGUAGE MODEL: a rule stood in for all of its {REQUESTS} rankings",
    )
    assert {each.ranking.generated_by for each in ready.proxies.ballots} == {"rule"}


def test_a_budget_is_shared_and_ends_in_an_error_or_rules(opened, server):
    with pytest.raises(InvalidMoveError, match="the budget of 4 calls is spent"):
        served(with_proxies(opened, model(server, calls=4), None))
    assert len(server.requests) == 4
    ready = with_proxies(opened, model(server, calls=4, fallback=True), None)
    served(ready)
    assert len(server.requests) == 8
    assert sum(each.fallbacks for each in ready.proxies.summaries) == len(NAMES) * REQUESTS - 4
    assert ready.proxies.warnings[0] == "in 14 of 18 rankings a rule stood in for a language model"


def test_a_model_that_contradicts_the_declaration_has_no_say(opened, server):
    def worst(handler, body):
        handler.chat({"ranking": fake.ranked_well(body)["ranking"][::-1], "reasons": []})

    server.script(worst)
    ready = with_proxies(opened, model(server, agents=("Environment",)), None)
    served(ready)
    assert {each.counts_as for each in ready.proxies.ballots} == {"silence"}
    assert "Environment has no say for 3 of them" in ready.proxies.warnings[0]
    let = with_proxies(opened, model(server, agents=("Environment",)), None, threshold=-1.0)
    served(let)
    assert {each.counts_as for each in let.proxies.ballots} == {"ballot"}


def test_recorded_and_replayed_without_a_server_or_a_key(opened, server, tmp_path, key):
    file = str(tmp_path / "talk.jsonl")
    some = {"agents": ("City", "Platform")}
    first = with_proxies(opened, model(server, record=file, **some), None)
    lists = served(first).slates.items
    asked = len(server.requests)
    assert key not in Path(file).read_text(encoding="utf-8")
    again = with_proxies(opened, ModelOptions("http://127.0.0.1/replayed", "fake", replay=file, **some), None)
    assert (served(again).slates.items == lists).all()
    assert again.proxies.rankings_csv() == first.proxies.rankings_csv()
    assert len(server.requests) == asked
    with pytest.raises(DataError, match="has no answer for the request"):
        served(
            with_proxies(opened, ModelOptions("http://127.0.0.1/r", "other", replay=file, fallback=True, **some), None)
        )
    with pytest.raises(InputError, match="is there already"):
        with_proxies(opened, model(server, record=file), None)


def test_the_key_is_in_nothing_that_is_kept(opened, server, key, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    server.script(lambda handler, body: handler.reply(400, json.dumps({"error": {"message": f"bad key {key}"}})))
    ready = with_proxies(opened, model(server, agents=("City",), fallback=True), None)
    served(ready)
    assert server.requests[0][1]["authorization"] == f"Bearer {key}"
    printed = "".join(capsys.readouterr())
    for said in (ready.proxies.to_json(), ready.proxies.rankings_csv(), ready.opened, caplog.text, printed):
        assert key not in str(said)
    with pytest.raises(InvalidMoveError) as caught:
        served(with_proxies(opened, model(server, agents=("City",)), None))
    assert key not in str(caught.value)


def test_what_cannot_be_is_refused_before_a_recording_is_begun(opened, server, tmp_path, monkeypatch):
    file = tmp_path / "talk.jsonl"
    some = {"record": str(file)}
    with pytest.raises(UnknownNameError, match="did you mean 'Residents'"):
        with_proxies(opened, model(server, agents=("Resident",), **some), None)
    with pytest.raises(InputError, match="threshold is 2"):
        with_proxies(opened, model(server, **some), None, threshold=2)
    with pytest.raises(UnknownNameError, match="did you mean 'silence'"):
        with_proxies(opened, model(server, **some), None, instead="silent")
    monkeypatch.setenv("OPENAI_API_KEY", "a b")
    with pytest.raises(InputError, match="OPENAI_API_KEY holds no key"):
        with_proxies(opened, model(server, **some), None)
    keyless = with_proxies(opened, model(server, key_variable="none"), None).proxies
    assert {each.key_variable for each in keyless.rankers.values()} == {None}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with pytest.raises(InputError, match="would travel unencrypted"):
        with_proxies(opened, ModelOptions("http://example.org/v1", "m", **some), None)
    with pytest.raises(InputError, match="base_url holds a user"):
        with_proxies(opened, ModelOptions("http://me:pw@127.0.0.1/v1", "m", **some), None)
    assert not file.exists()
    assert server.requests == []


class TestRecorded:
    def write(self, tmp_path, *lines, header="stakeholder,request,place,item"):
        file = tmp_path / "people.csv"
        file.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        return str(file)

    def test_people_speak_from_a_file_and_a_model_for_the_rest(self, opened, server, tmp_path):
        items = opened.source.market.catalogue.items
        file = self.write(tmp_path, *(f"{name},day1-1,1,{items[2]}" for name in NAMES if name != "City"))
        ready = with_proxies(opened, model(server), file)
        served(ready)
        assert len(server.requests) == REQUESTS
        kinds = {each.stakeholder: each.ranker["kind"] for each in ready.proxies.summaries}
        assert kinds == {name: "language model" if name == "City" else "recorded" for name in NAMES}
        people = {each.ranking.generated_by for each in ready.proxies.ballots if each.stakeholder == "Residents"}
        assert people == {"person"}

    def test_a_run_is_repeated_from_its_own_file(self, opened, server, tmp_path):
        first = with_proxies(opened, model(server, agents=("City",)), None)
        lists = served(first).slates.items
        file = tmp_path / "rankings.csv"
        file.write_text(first.proxies.rankings_csv(), encoding="utf-8")
        again = with_proxies(opened, None, str(file))
        assert (served(again).slates.items == lists).all()

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["Resident,day1-1,1,x"], "unknown stakeholder in --rankings"),
            (["Residents,day1-1,1,nowhere"], "line 2: unknown item 'nowhere'"),
            (["Residents,day1-1,0,nowhere"], "line 2: place is '0'"),
        ],
    )
    def test_wrong_files(self, lines, message, opened, tmp_path):
        with pytest.raises(InputError, match=message):
            with_proxies(opened, None, self.write(tmp_path, *lines))

    def test_unknown_requests_are_refused_unless_only_part_is_served(self, opened, tmp_path):
        item = opened.source.market.catalogue.items[0]
        file = self.write(tmp_path, f"Residents,day1-1,1,{item}", f"Residents,day2-30,1,{item}")
        assert with_proxies(opened, None, file).proxies
        wrong = self.write(tmp_path, f"Residents,day9-1,1,{item}")
        with pytest.raises(DataError, match="line 2: unknown request 'day9-1'"):
            with_proxies(opened_case(None), None, wrong)

    def test_a_file_has_to_say_who_speaks(self, opened, tmp_path):
        with pytest.raises(InputError, match="no column 'stakeholder'"):
            with_proxies(opened, None, self.write(tmp_path, "day1-1,1,x", header="request,place,item"))

    def test_nobody_is_spoken_for_twice(self, opened, server, tmp_path):
        items = opened.source.market.catalogue.items
        file = self.write(tmp_path, *(f"{name},day1-1,1,{items[0]}" for name in NAMES))
        with pytest.raises(InputError, match="both speak for 'City'"):
            with_proxies(opened, model(server, agents=("City",)), file)
        with pytest.raises(InputError, match="nobody to speak for"):
            with_proxies(opened, model(server), file)


def test_names_with_commas():
    assert names_with_commas("Residents, Small shops", "--speaks-for") == ("Residents", "Small shops")
    for wrong in ("", "a,,b", "a,a", ","):
        with pytest.raises(InputError, match="--speaks-for is"):
            names_with_commas(wrong, "--speaks-for")
