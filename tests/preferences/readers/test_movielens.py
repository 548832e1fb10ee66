"""MovieLens: made-up tables, factors that only other users make, the real files."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences.readers import RatingFactors, read_movielens

MOVIES = """movieId,title,genres
7,"American President, The (1995)",Comedy|Drama
3,Heat (1995),Action
9,Unlisted (2000),(no genres listed)
"""
RATINGS = """userId,movieId,rating,timestamp
10,3,4.0,500
10,7,2.5,100
2,3,1.0,300
2,9,5.0,300
"""


def written(folder, ratings=RATINGS, movies=MOVIES):
    (folder / "movies.csv").write_text(movies, encoding="utf-8")
    (folder / "ratings.csv").write_text(ratings, encoding="utf-8")
    return folder


def taste_world(folder, n_users=40, n_movies=30, seed=0):
    """Two kinds of users who like opposite halves of the films."""
    generator = np.random.default_rng(seed)
    side = np.where(np.arange(n_movies) % 2 == 0, 1.0, -1.0)
    lines = ["userId,movieId,rating,timestamp"]
    for user in range(n_users):
        likes = 1.0 if user % 2 == 0 else -1.0
        for movie in generator.choice(n_movies, 20, replace=False):
            stars = np.clip(np.round(2 * (3 + 1.5 * likes * side[movie] + generator.normal(0, 0.3))) / 2, 0.5, 5)
            lines.append(f"u{user},{movie},{stars},{generator.integers(10**6)}")
    movies = "movieId,title,genres\n" + "".join(f"{movie},Film {movie},Drama\n" for movie in range(n_movies))
    return written(folder, "\n".join(lines) + "\n", movies), side


def test_genres_and_order_of_time(tmp_path):
    found = read_movielens(written(tmp_path))
    assert found.feature_names == ("Action", "Comedy", "Drama")
    assert found.ratings.features.tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert found.movies == ("7", "3", "9")
    assert found.titles[0] == "American President, The (1995)"
    assert found.ratings.user_names == ("10", "2")
    assert found.ratings.times.tolist() == [100, 300, 300, 500]
    assert found.ratings.items.tolist() == [0, 1, 2, 1]  # ties in the order of the file
    assert found.ratings.users.tolist() == [0, 1, 1, 0]
    assert found.ratings.ratings.tolist() == [2.5, 1, 5, 4]
    assert found.set_aside == ()
    pairs = found.ratings.to_comparisons(gap=1.0)
    assert pairs.margins.tolist() == [1.5, 4.0]
    assert pairs.chosen.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("ratings", "movies", "message"),
    [
        ("", MOVIES, "ratings.csv is empty"),
        ("userId,movieId,rating,timestamp\n", MOVIES, "ratings.csv has a header but no rows"),
        (RATINGS.replace("rating,", "ratings,"), MOVIES, "column 'rating' is missing; did you mean it by 'ratings'"),
        (RATINGS, MOVIES.replace("genres\n", "kind\n"), "movies.csv: column 'genres' is missing"),
        (RATINGS.replace("2.5", "good"), MOVIES, "ratings.csv line 3: rating is 'good'; allowed: a number"),
        (RATINGS.replace("2.5", "nan"), MOVIES, "line 3: rating is 'nan'"),
        (RATINGS.replace("500", "inf"), MOVIES, "line 2: timestamp is 'inf'"),
        (RATINGS.replace("2,9,5.0,300", "2,9,5.0"), MOVIES, "line 5 has 3 cells; allowed: 4"),
        (RATINGS.replace("2,9", "2,8"), MOVIES, "ratings.csv line 5: movieId '8' is not in movies.csv"),
        (RATINGS.replace("2,9", "2,3"), MOVIES, "line 5: user '2' rates film '3' again; allowed: once"),
        (RATINGS, MOVIES.replace("9,", "3,"), "a movieId occurs twice"),
        (RATINGS, MOVIES.replace("title", "genres"), "column 'genres' occurs twice"),
        (RATINGS.replace("300\n", "300\n\n"), MOVIES, None),
        (RATINGS.replace("\n", "\r\n"), MOVIES, None),
        (RATINGS, MOVIES + '4,"never closed', "movies.csv line 5 is not CSV"),
    ],
)
def test_wrong_files(tmp_path, ratings, movies, message):
    folder = written(tmp_path, ratings, movies)
    if message is None:
        assert len(read_movielens(folder).ratings) == 4
        return
    with pytest.raises(DataError, match=message):
        read_movielens(folder)


def test_a_folder_without_the_files(tmp_path):
    with pytest.raises(DataError, match=r"movies\.csv: there is no such file"):
        read_movielens(tmp_path)


def test_factors_tell_tastes_apart_that_genres_do_not(tmp_path):
    folder, side = taste_world(tmp_path)
    found = read_movielens(folder, factors=RatingFactors(2, 0.5, seed=1))
    assert found.feature_names == ("Drama", "mean", "factor 1", "factor 2")
    first = found.ratings.features[:, 2]
    assert abs(np.corrcoef(first, side)[0, 1]) > 0.9
    assert np.sqrt((first**2).mean()) == pytest.approx(1.0)
    again = read_movielens(folder, factors=RatingFactors(2, 0.5, seed=1))
    assert again.ratings.features.tobytes() == found.ratings.features.tobytes()


def test_nobody_s_own_ratings_are_features(tmp_path):
    folder, _ = taste_world(tmp_path)
    factors = RatingFactors(2, 0.5, seed=1)
    found = read_movielens(folder, factors=factors)
    assert len(found.set_aside) == 20
    assert not set(found.set_aside) & set(found.ratings.user_names)
    assert len(found.ratings) == 20 * 20
    assert (np.diff(found.ratings.times) >= 0).all()
    header, *lines = (folder / "ratings.csv").read_text().splitlines()
    turned = [
        line if line.split(",")[0] in found.set_aside else ",".join([*line.split(",")[:2], "3.0", line.split(",")[3]])
        for line in lines
    ]
    (folder / "ratings.csv").write_text("\n".join([header, *turned]) + "\n")
    other = read_movielens(folder, factors=factors)
    assert (other.ratings.ratings == 3.0).all()
    assert other.ratings.features.tobytes() == found.ratings.features.tobytes()


def test_means_and_factors_equal_slow_ones(tmp_path):
    folder, _ = taste_world(tmp_path, n_users=12, n_movies=25)
    found = read_movielens(folder, factors=RatingFactors(3, 0.5))
    aside = list(found.set_aside)
    rows = [line.split(",") for line in (folder / "ratings.csv").read_text().splitlines()[1:]]
    stars = {(user, int(movie)): float(rating) for user, movie, rating, _ in rows if user in aside}
    left = {
        (user, movie): rating - np.mean([other for (who, _), other in stars.items() if who == user])
        for (user, movie), rating in stars.items()
    }
    mean = np.zeros(25)
    matrix = np.zeros((len(aside), 25))
    for movie in range(25):
        own = [value for (_, film), value in left.items() if film == movie]
        mean[movie] = sum(own) / (len(own) + 5)
    for (user, movie), value in left.items():
        matrix[aside.index(user), movie] = value - mean[movie]
    assert found.ratings.features[:, 1] == pytest.approx(mean)
    _, _, vectors = np.linalg.svd(matrix)
    n_rated = len({movie for _, movie in stars})
    for number in range(3):
        similar = found.ratings.features[:, 2 + number] @ vectors[number] / np.sqrt(n_rated)
        assert abs(similar) == pytest.approx(1.0)


def test_means_alone(tmp_path):
    folder, _ = taste_world(tmp_path, n_users=6)
    found = read_movielens(folder, factors=RatingFactors(0))
    assert found.feature_names == ("Drama", "mean")
    assert np.array_equal(
        found.ratings.features[:, 1], read_movielens(folder, factors=RatingFactors(2)).ratings.features[:, 1]
    )


def test_wrong_factors(tmp_path):
    for wrong in ({"n_factors": -1}, {"share": 0.0}, {"share": 1.0}, {"seed": -1}):
        with pytest.raises(InputError, match="allowed:"):
            RatingFactors(**wrong)
    with pytest.raises(InputError, match="n_factors is 8; allowed: fewer than the 1 users set aside and the 2 films"):
        read_movielens(written(tmp_path), factors=RatingFactors())
    with pytest.raises(InputError, match="found 1 user, allowed: at least 2"):
        read_movielens(written(tmp_path, "\n".join(RATINGS.splitlines()[:3]) + "\n"), factors=RatingFactors(0))
    alike = "userId,movieId,rating,timestamp\n" + "".join(f"{u},{m},3,0\n" for u in range(8) for m in (3, 7, 9))
    with pytest.raises(InputError, match="rate every film alike"):
        read_movielens(written(tmp_path, alike), factors=RatingFactors(1))
    nearly = alike.replace(",7,3,", ",7,3.5,")
    assert len(read_movielens(written(tmp_path, nearly), factors=RatingFactors(1)).set_aside) == 4


@pytest.mark.long
def test_the_real_files(real_data):
    folder = real_data("preferences/movielens-small/ratings.csv").parent
    found = read_movielens(folder, factors=RatingFactors(4))
    assert len(found.movies) == 9742
    assert len(found.set_aside) == 305
    assert len(found.ratings.user_names) == 305
    assert len(found.feature_names) == 19 + 1 + 4
    assert found.ratings.features.shape == (9742, 24)
    assert (np.diff(found.ratings.times) >= 0).all()
    assert set(found.ratings.ratings) == {half / 2 for half in range(1, 11)}
    better, worse = (np.asarray(each) for each in _pairs(found))
    right = found.ratings.features[better, 19] > found.ratings.features[worse, 19]
    assert right.mean() > 0.6  # what others like helps to foretell these users


def _pairs(found):
    pairs = found.ratings.to_comparisons(most=20, generator=np.random.default_rng(0))
    return pairs.chosen, pairs.rejected
