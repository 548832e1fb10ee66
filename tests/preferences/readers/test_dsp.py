"""DSP: pairs per domain, made-up users with declared shares, the real file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.encoding import LengthEncoder
from accordant.preferences.readers import StyledAnswers, StyleUsers, dirichlet_users, read_dsp, users_by_share

STYLES = ("plain", "warm", "formal")
RECORDS = [
    {"query": f"q{number}", "responses": {style: f"{style} answer {number}" for style in STYLES}}
    for number in range(40)
]


def written(folder, content):
    (folder / "dsp.json").write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder / "dsp.json"


def generator():
    return np.random.default_rng(0)


def test_every_other_style_is_a_pair_of_a_domain(tmp_path):
    answers = read_dsp(written(tmp_path, RECORDS[:2]))
    assert answers.styles == STYLES
    found = answers.by_domain()
    expected = [
        (record["query"], record["responses"][home], record["responses"][other], home)
        for home in STYLES for record in RECORDS[:2] for other in STYLES if other != home
    ]  # fmt: skip
    assert list(zip(found.prompts, found.chosen, found.rejected, found.record_users, strict=True)) == expected
    assert found.groups == found.users


def test_styles_with_the_same_answer_are_not_compared(tmp_path):
    same = [{"query": "q", "responses": {"plain": "a", "warm": "a", "formal": "b"}}]
    found = read_dsp(written(tmp_path, same)).by_domain()
    assert list(zip(found.chosen, found.rejected, strict=True)) == [("a", "b"), ("a", "b"), ("b", "a"), ("b", "a")]
    with pytest.raises(DataError, match="allowed: 2 answers, one per style, to each of 1 queries"):
        StyledAnswers(("q",), ("plain", "warm"), (("a",),))
    with pytest.raises(DataError, match="the answers of all styles are the same"):
        StyledAnswers(("q",), ("plain", "warm"), (("a", "a"),)).by_domain()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "dsp.json is empty"),
        ("[\n{]", "dsp.json line 2 is not JSON"),
        ([], "at least one record"),
        ({"query": "q"}, "must hold a JSON list"),
        (["q"], "record 1 is text; allowed: a JSON object"),
        ([{"qwery": "q", "responses": {}}], "record 1: key 'query' is missing; did you mean it by 'qwery'"),
        ([{"query": "q"}], "record 1: key 'responses' is missing"),
        ([RECORDS[0] | {"source": 1}], "record 1: unknown key 'source'"),
        ([RECORDS[0], {"query": "q", "responses": {"plain": "a", "warm": "b"}}], "record 2: 'responses': key 'formal'"),
        ([RECORDS[0], {"query": "q", "responses": dict.fromkeys((*STYLES, "harsh"), "a")}], "unknown style 'harsh'"),
        ([{"query": "q", "responses": {"plain": "a", "warm": 1}}], "'warm' is a number; allowed: text"),
        ([{"query": "q", "responses": {"plain": "a"}}], "two or more different names"),
    ],
)
def test_wrong_files(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read_dsp(written(tmp_path, content))


def test_shares_of_users_are_rounded_by_largest_remainders():
    users = users_by_share(10, {"warm": 0.25, "plain": 0.67, "formal": 0.08}, styles=STYLES)
    assert users.groups == ("warm",) * 2 + ("plain",) * 7 + ("formal",)
    assert users.shares == {"warm": 0.2, "plain": 0.7, "formal": 0.1}
    assert users.tastes[0].tolist() == [0, 1, 0]
    loyal = users_by_share(4, {"warm": 0.5, "plain": 0.5}, styles=STYLES, loyalty=0.8)
    assert loyal.groups == ("warm", "warm", "plain", "plain")
    assert loyal.tastes[0] == pytest.approx([0.1, 0.8, 0.1])


def test_dirichlet_users_have_the_declared_means():
    users = dirichlet_users(4000, {"plain": 3.0, "warm": 1.0}, generator=generator())
    assert users.tastes.mean(axis=0) == pytest.approx([0.75, 0.25], abs=0.015)  # standard error 0.003
    assert users.groups == tuple(users.styles[best] for best in users.tastes.argmax(axis=1))
    again = dirichlet_users(4000, {"plain": 3.0, "warm": 1.0}, generator=generator())
    assert users.tastes.tobytes() == again.tastes.tobytes()


def test_wrong_users():
    with pytest.raises(UnknownNameError, match="did you mean 'plain'"):
        users_by_share(3, {"plan": 1.0}, styles=STYLES)
    for shares in ({"plain": 0.5}, {"plain": -0.5, "warm": 1.5}, {}):
        with pytest.raises(InputError, match="allowed: at least 0, with the sum 1"):
            users_by_share(3, shares, styles=STYLES)
    with pytest.raises(InputError, match="loyalty is 0"):
        users_by_share(3, {"plain": 1.0}, styles=STYLES, loyalty=0)
    with pytest.raises(InputError, match="n_users is 0"):
        users_by_share(0, {"plain": 1.0}, styles=STYLES)
    for wrong in ({}, {"plain": 0.0}, {"plain": np.nan}):
        with pytest.raises(InputError, match="allowed: above 0 for each style"):
            dirichlet_users(3, wrong, generator=generator())
    with pytest.raises(DataError, match="the sum 1"):
        StyleUsers(("plain", "warm"), np.array([[0.5, 0.6]]), ("a",))
    with pytest.raises(DataError, match="tastes have shape"):
        StyleUsers(("plain", "warm"), np.array([0.5, 0.5]), ("a",))
    with pytest.raises(DataError, match="allowed: different names"):
        StyleUsers(("plain", "plain"), np.array([[0.5, 0.5]]), ("a",))
    with pytest.raises(DataError, match="there are no users"):
        StyleUsers(("plain", "warm"), np.zeros((0, 2)), ())


def test_support_equals_asking_the_others_one_by_one():
    drawn = dirichlet_users(6, dict.fromkeys(STYLES, 0.4), generator=generator())
    tastes = drawn.tastes.copy()
    tastes[1:] = np.where(tastes[1:] < 0.2, 0, tastes[1:])
    tastes /= tastes.sum(axis=1, keepdims=True)
    found = StyleUsers(STYLES, tastes, drawn.groups).support()
    for user in range(6):
        for one in range(3):
            for two in range(3):
                rates = [t[one] / (t[one] + t[two]) for v, t in enumerate(tastes) if v != user and t[one] + t[two] > 0]
                expected = np.mean(rates) if rates and one != two else np.nan
                assert found[user, one, two] == pytest.approx(expected, nan_ok=True)


def test_made_up_users_prefer_what_their_tastes_say():
    answers = StyledAnswers(
        tuple(f"q{n}" for n in range(3000)), STYLES, tuple(tuple(f"{style} {n}" for style in STYLES) for n in range(3000))
    )  # fmt: skip
    users = StyleUsers(STYLES, np.array([[0.6, 0.3, 0.1], [0.0, 0.0, 1.0]]), ("mixed", "pure"))
    found = answers.of_users(users, records=3000, generator=generator())
    style = [(one.split()[0], two.split()[0]) for one, two in zip(found.chosen, found.rejected, strict=True)]
    assert len(found) == 6000
    assert found.user_names == ("0", "1")
    assert found.groups == ("mixed",) * 3000 + ("pure",) * 3000
    assert len(set(found.prompts[:3000])) == 3000  # queries of a user differ
    for one, two, probability in (("plain", "warm", 2 / 3), ("plain", "formal", 6 / 7), ("warm", "formal", 3 / 4)):
        wins, losses = style[:3000].count((one, two)), style[:3000].count((two, one))
        error = np.sqrt(probability * (1 - probability) / (wins + losses))
        assert abs(wins / (wins + losses) - probability) < 4 * error
    assert {one for one, _ in style[3000:]} == {"formal"}
    for row in (0, 1, 5999):  # support of the mixed user is what the pure one says, and the other way round
        expected = {"mixed": {"formal": 1.0}, "pure": {"formal": {"plain": 1 / 7, "warm": 1 / 4}}}
        one, two = style[row]
        if row == 5999:
            assert found.support[row] == pytest.approx(expected["pure"]["formal"][two])
        elif "formal" in (one, two):
            assert found.support[row] == float(one == "formal")
        else:
            assert np.isnan(found.support[row])


def test_the_same_seed_gives_the_same_records(tmp_path):
    answers = read_dsp(written(tmp_path, RECORDS))
    users = users_by_share(5, {"plain": 0.8, "warm": 0.2}, styles=STYLES, loyalty=0.7)
    one, two = (answers.of_users(users, records=20, generator=generator()) for _ in range(2))
    assert (one.prompts, one.chosen, one.rejected) == (two.prompts, two.chosen, two.rejected)
    other = answers.of_users(users, records=20, generator=np.random.default_rng(1))
    assert other.chosen != one.chosen


def test_wrong_draws(tmp_path):
    answers = read_dsp(written(tmp_path, [*RECORDS, {"query": "q", "responses": dict.fromkeys(STYLES, "same")}]))
    for records in (0, 41):
        with pytest.raises(InputError, match="allowed: 1 to 40, the queries whose answers all differ"):
            answers.of_users(users_by_share(2, {"plain": 1.0}, styles=STYLES), records=records, generator=generator())
    with pytest.raises(UnknownNameError, match="did you mean 'warm'"):
        answers.of_users(users_by_share(2, {"warmth": 1}, styles=("plain", "warmth")), records=1, generator=generator())
    with pytest.raises(InputError, match="users know 1 style"):
        answers.of_users(users_by_share(2, {"warm": 1}, styles=("warm",)), records=1, generator=generator())


@pytest.mark.long
def test_the_real_file(real_data):
    answers = read_dsp(real_data("preferences/domain_specific_preference.test.json"))
    assert len(answers) == 661
    assert answers.styles == ("academy", "business", "entertainment", "literature", "normal")
    pairs = answers.by_domain()
    longer = pairs.encode(LengthEncoder()).differences()[:, 0] > 0
    by_style = {style: longer[np.array(pairs.users) == style].mean() for style in answers.styles}
    assert by_style["normal"] < 0.15 < 0.5 < min(rate for style, rate in by_style.items() if style != "normal")
    users = users_by_share(20, {"academy": 0.8, "normal": 0.2}, styles=answers.styles)
    drawn = answers.of_users(users, records=30, generator=generator())
    assert users.shares == {"academy": 0.8, "normal": 0.2}
    assert len(drawn) == 600
    assert drawn.encode(LengthEncoder()).groups == users.groups


def test_two_styles_are_enough_and_every_query_may_be_drawn(tmp_path):
    answers = read_dsp(written(tmp_path, RECORDS[:5]))
    users = StyleUsers(("warm", "formal"), np.array([[1.0, 0.0], [0.0, 1.0]]), ("one", "other"))
    found = answers.of_users(users, records=5, generator=generator())
    assert sorted(found.prompts[:5]) == sorted(found.prompts[5:]) == [f"q{number}" for number in range(5)]
    for query, chosen, rejected, user in zip(
        found.prompts, found.chosen, found.rejected, found.record_users, strict=True
    ):
        liked, other = ("warm", "formal") if user == "0" else ("formal", "warm")
        assert (chosen, rejected) == (f"{liked} answer {query[1:]}", f"{other} answer {query[1:]}")
    assert found.groups == ("one",) * 5 + ("other",) * 5
    assert found.support.tolist() == [0.0] * 10  # the only other user likes the other style
    assert len(answers.of_users(users, records=1, generator=generator())) == 2
