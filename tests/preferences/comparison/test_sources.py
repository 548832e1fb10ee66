"""Sources: what each kind of file becomes, and what is declared about it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.comparison.sources import TERMS, SourceOptions, read_source

STYLES = ("plain", "grand", "odd")


@pytest.fixture
def styled(tmp_path):
    path = tmp_path / "styled.json"
    rows = [{"query": f"q{k}", "responses": {style: f"{style} answer {k}" for style in STYLES}} for k in range(30)]
    path.write_text(json.dumps(rows))
    return path


@pytest.fixture
def films(tmp_path):
    generator = np.random.default_rng(0)
    (tmp_path / "movies.csv").write_text(
        "movieId,title,genres\n" + "".join(f"{k},t{k},{'Drama' if k % 2 else 'War'}\n" for k in range(30))
    )
    rows = [
        f"{user},{film},{generator.integers(1, 6)},{1000 * user + place}"
        for user in range(24)
        for place, film in enumerate(generator.permutation(30)[:20])
    ]
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n" + "\n".join(rows) + "\n")
    return tmp_path


def read(path, seed=0, test=0.3, **options):
    return read_source(path, SourceOptions(**options), test=test, seed=seed)


def test_made_up_users_have_the_declared_shares_and_say_so(styled):
    source = read(styled, minority=0.25, users=20, records=12)
    assert source.kind == "dsp"
    assert len(source) == 240
    assert source.texts.groups.count("grand") == 5 * 12
    assert "15 with a taste of 0.8 for the style plain, 5 for grand" in source.declared[0]
    assert "imposed, not found" in source.declared[0]
    assert source.support.shape == (240,)
    assert source.terms == TERMS["dsp"]
    again, other = (read(styled, users=20, records=12, seed=seed) for seed in (0, 1))
    assert read(styled, users=20, records=12).texts.chosen == again.texts.chosen != other.texts.chosen


def test_styles_can_be_chosen(styled):
    source = read(styled, styles=("odd", "plain"), users=10)
    assert [source.texts.groups.count(style) // 30 for style in STYLES] == [2, 0, 8]  # as many records as queries
    with pytest.raises(UnknownNameError, match="did you mean 'plain'"):
        read(styled, styles=("odd", "plane"))
    with pytest.raises(InputError, match="allowed: two different ones"):
        read(styled, styles=("odd", "odd"))
    with pytest.raises(InputError, match="is nobody"):
        read(styled, minority=0.001)


@pytest.mark.parametrize("wrong", [{"minority": 0.0}, {"minority": 1.0}, {"users": 1}, {"records": 1}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="allowed"):
        SourceOptions(**wrong)


def test_pairs_of_ratings_are_early_or_late_and_never_both(films):
    source = read(films, records=20)
    assert source.kind == "movielens"
    assert len(source.declared) == 2
    ratings = {}
    for line in (films / "ratings.csv").read_text().split("\n")[1:-1]:
        user, film, stars, when = line.split(",")
        ratings[user, int(film)] = (int(stars), int(when))
    cut = {user: sorted(when for (who, _), (_, when) in ratings.items() if who == user)[14] for user, _ in ratings}
    records = source.comparisons
    for row in range(len(source)):
        user = source.user_names[source.users[row]]
        high, low = ratings[user, records.chosen[row]], ratings[user, records.rejected[row]]
        assert high[0] - low[0] == records.margins[row] >= 1
        assert [(when >= cut[user]) for _, when in (high, low)] == [source.later[row]] * 2
    assert 0.2 < source.later.mean() < 0.4
    assert np.bincount(source.users).max() <= 20
    assert len(source.user_names) == 12  # half of the users became features


def test_the_file_of_ratings_stands_for_its_folder(films):
    assert len(read(films / "ratings.csv", records=20)) == len(read(films, records=20))
    other = films / "other.csv"
    other.write_text((films / "ratings.csv").read_text())
    with pytest.raises(DataError, match=r"other\.csv is not called ratings\.csv"):
        read(other)


def test_texts_number_their_pairs_whichever_is_chosen(tmp_path):
    path = tmp_path / "a.csv"
    rows = ("q,a,b,u1,0.9", "q,b,a,u2,0.1", "p,a,b,u1,", "q,a,c,u1,0.5")
    path.write_text("prompt,chosen,rejected,user_id,support_rate\n" + "\n".join(rows) + "\n")
    source = read(path)
    assert source.pairs.tolist() == [0, 0, 1, 2]
    assert source.users.tolist() == [0, 1, 0, 0]
    assert source.support_from == "the column support_rate of the file"
    assert np.isnan(source.support[2])


def test_features_number_their_pairs_whichever_is_chosen(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user_id,chosen_x,rejected_x\n1,1,2\n2,2,1\n1,3,1\n")
    source = read(path)
    assert source.kind == "features"
    assert source.pairs[0] == source.pairs[1] != source.pairs[2]
    assert source.support is None
