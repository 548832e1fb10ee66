"""Groups of the people who answered: who is in which, how many there are, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences.learned_rewards import ComparisonReward, groups, read_answers
from accordant.preferences.learned_rewards.fitted_reward import CellFeatures
from accordant.preferences.learners.mixture import Mixture

COLUMNS = ("user_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome")


@pytest.fixture
def opposed(tmp_path, write_rows, asked, truth):
    """A maker of files in which the first people want the opposite of what the others want."""

    def write(first, others, *, columns=COLUMNS, more=lambda user: ()):
        generator, turned = np.random.default_rng(3), {cell: 1 - value for cell, value in truth.items()}
        people = [(f"a{n}", turned) for n in range(first)] + [(f"b{n}", truth) for n in range(others)]
        rows = [row for user, own in people for row in asked(user, own, steepness=8, generator=generator)]
        return write_rows(tmp_path / "answers.csv", [(*row, *more(row[0])) for row in rows], columns)

    return write


@pytest.fixture
def labelled(opposed):
    """Four people of a declared group, and eight of another; the file names the groups."""
    return opposed(4, 8, columns=(*COLUMNS, "group_id"), more=lambda user: ("owner" if user[0] == "a" else "tenant",))


def split(file, problem, by="types", most=2, least=2, **entry):
    return ComparisonReward(str(file), **entry).groups_of_people(problem, by=by, most=most, least=least)


def people(found):
    return [(group.name, group.people) for group in found.groups]


def test_people_who_want_opposite_things_are_two_types_largest_first(opposed, problem):
    found = split(opposed(4, 8), problem)
    assert people(found) == [("type 1", 8), ("type 2", 4)]
    assert [group.entry for group in found.groups] == [{"type": 1, "types": 2}, {"type": 2, "types": 2}]
    one, two = found.tried
    assert (one.types, two.types, two.shortfall) == (1, 2, 0.0)
    assert (
        one.shortfall == pytest.approx(two.log_likelihood - one.log_likelihood) and one.shortfall > one.standard_error
    )
    assert found.unsure == 0.0


def test_people_who_want_the_same_are_one_type(opposed, problem):
    found = split(opposed(0, 12), problem)
    assert people(found) == [("", 12)] and found.groups[0].entry == {}
    assert found.tried[0].shortfall <= found.tried[0].standard_error and found.unsure is None


def test_everybody_is_of_the_type_that_makes_the_answers_most_likely(opposed, problem):
    answers = read_answers(opposed(5, 8), problem)
    comparisons = groups._comparisons(answers, problem, ())
    ranks, _ = groups._ranked_types(comparisons, 3)
    model = Mixture(types=3).fit(comparisons, generator=np.random.default_rng(groups.SEED))
    items = CellFeatures.of_answers(answers, problem, ()).items(answers)
    kind_of = []
    for user in range(13):
        logs = []
        for share, theta in zip(model.shares, model.coefficients, strict=True):
            log = np.log(share)
            for record in np.flatnonzero(answers.users == user):
                margin = items[record] @ theta - items[record + len(answers)] @ theta
                log -= np.log1p(np.exp(-margin))
            logs.append(log)
        kind_of.append(int(np.argmax(logs)))
    by_rank = {}
    for kind, rank in zip(kind_of, ranks, strict=True):
        assert by_rank.setdefault(rank, kind) == kind  # a rank is one type
    assert len(set(by_rank.values())) == len(by_rank)
    sizes = [kind_of.count(by_rank[rank]) if rank in by_rank else 0 for rank in range(3)]
    assert sizes == sorted(sizes, reverse=True)


def test_types_of_equal_size_are_ordered_by_their_first_person(opposed, problem):
    answers = read_answers(opposed(5, 5), problem)
    assert groups.people_of_type(answers, problem, (), 1, 2).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("entry", [{"group": "owner"}, {"type": 2, "types": 2}])
@pytest.mark.parametrize("more", [{}, {"learner": "per_user", "users": "mean"}])
def test_a_group_learns_what_its_people_alone_would(labelled, problem, log, entry, more):
    of_group = ComparisonReward(str(labelled), **entry, **more).fit(log, problem)
    alone = ComparisonReward(str(labelled), only=("a0", "a1", "a2", "a3"), **more).fit(log, problem)
    assert np.array_equal(of_group.coefficients, alone.coefficients) and of_group.scales == alone.scales
    own = of_group.provenance()
    assert len(own.pop("records_sha256")) == 64 and own == alone.provenance()
    assert (alone.provenance()["users"], alone.provenance()["records"]) == (4, 4 * 15)


def test_the_hash_of_a_groups_records_changes_with_its_records_alone(labelled, problem, log):
    def hashes():
        found = (ComparisonReward(str(labelled), group=group).fit(log, problem) for group in ("owner", "tenant"))
        return [each.provenance()["records_sha256"] for each in found]

    before, lines = hashes(), labelled.read_text().splitlines()
    labelled.write_text("\n".join(lines[:-1]))  # the last answer is a tenant's
    assert hashes()[0] == before[0] and hashes()[1] != before[1]


def test_declared_groups_are_those_of_the_file_largest_first(labelled, problem):
    found = split(labelled, problem, "group_id")
    assert people(found) == [("tenant", 8), ("owner", 4)]
    assert found.groups[0].entry == {"group": "tenant"} and found.tried == () and found.unsure is None


@pytest.mark.parametrize(("limits", "message"), [
    ({"least": 5}, "answers.csv: group_id 'owner' has 4 people; allowed: at least 5"),
    ({"most": 1}, "answers.csv: group_id names 2 groups; allowed: at most 1 (`most`)"),
])  # fmt: skip
def test_declared_groups_that_are_refused(labelled, problem, limits, message):
    with pytest.raises(DataError) as raised:
        split(labelled, problem, "group_id", **limits)
    assert str(raised.value) == message


def test_a_file_without_groups_says_so(opposed, problem, log):
    file = opposed(4, 8)
    with pytest.raises(DataError, match="answers.csv has no column 'group_id'"):
        split(file, problem, "group_id")
    with pytest.raises(DataError, match="answers.csv has no column 'group_id'"):
        ComparisonReward(str(file), group="owner").of_stakeholder("Applicant", problem)


def test_an_unknown_group_is_refused_with_the_nearest_one(labelled, problem):
    with pytest.raises(DataError, match="unknown group_id 'tennant'; did you mean 'tenant'\\? valid: owner, tenant"):
        ComparisonReward(str(labelled), group="tennant").of_stakeholder("Applicant", problem)


def test_a_type_that_is_too_small_is_no_group(opposed, problem):
    found = split(opposed(4, 8), problem, least=5)
    assert people(found) == [("", 12)] and len(found.tried) == 2
    assert "of 2 types the smallest has 4 people, fewer than 5: fewer types are taken." in found.warnings


def test_too_few_people_are_not_looked_at(opposed, problem):
    found = split(opposed(4, 5), problem, least=5)
    assert people(found) == [("", 9)] and found.tried == ()
    assert found.warnings == ("9 people answered, too few for two groups of at least 5: nobody looked for types.",)


def test_one_person_forms_no_groups(opposed, problem):
    with pytest.raises(InputError, match="groups need answers of several people; found those of 1 in answers.csv"):
        split(opposed(0, 1), problem)


def test_whoever_has_no_answer_of_weight_is_in_no_group(opposed, problem, log):
    file = opposed(5, 8, columns=(*COLUMNS, "weight"), more=lambda user: (0 if user == "a2" else 1,))
    found = split(file, problem)
    assert people(found) == [("type 1", 8), ("type 2", 4)]
    assert "records of weight 0 alone are no answers; 1 person is in no group." in found.warnings
    reward = ComparisonReward(str(file), type=2, types=2).fit(log, problem)
    assert reward.provenance()["users"] == 4


def test_types_do_not_depend_on_the_rows_of_a_case(tmp_path, opposed, problem, log):
    generator = np.random.default_rng(1)
    file = opposed(4, 8, columns=(*COLUMNS, "income"), more=lambda user: (round(generator.normal(50, 9), 1),))
    answers = read_answers(file, problem, context=("income",))
    mean, spread = CellFeatures.of_answers(answers, problem, ("income",)).context["income"]
    assert (mean, spread) == (answers.contexts.mean(), answers.contexts.std())
    assert people(split(file, problem, context=("income",))) == [("type 1", 8), ("type 2", 4)]
    assert (
        ComparisonReward(str(file), context=("income",), type=2, types=2).fit(log, problem).provenance()["users"] == 4
    )


def test_numbers_as_outcomes_form_types_too(tmp_path, write_rows, visits):
    rows = [
        (
            f"{kind}{n}",
            *(("Visit", high, "None", low) if (kind == "a") == (high > low) else ("None", low, "Visit", high)),
        )
        for kind, size in (("a", 4), ("b", 7))
        for n in range(size)
        for high, low in ((9, 1), (8, 2), (1, 7), (5, 3), (2, 6), (7, 4))
    ]
    found = split(write_rows(tmp_path / "visits.csv", rows), visits)
    assert people(found) == [("type 1", 7), ("type 2", 4)]


@pytest.mark.parametrize(("entry", "message"), [
    ({"group": "owner", "type": 1, "types": 2}, "people have a group or a type; found both"),
    ({"type": 1}, "types is None; allowed: a whole number from 1 to 8; both are needed"),
    ({"types": 2}, "type is None; allowed: a whole number from 1 to 2; both are needed"),
    ({"type": 3, "types": 2}, "type is 3; allowed: a whole number from 1 to 2; both are needed"),
    ({"type": 1, "types": 9}, "types is 9; allowed: a whole number from 1 to 8; both are needed"),
    ({"type": True, "types": 2}, "type is True; allowed: a whole number from 1 to 2; both are needed"),
    ({"type": "1", "types": 2}, "type is '1'; allowed: a whole number from 1 to 2; both are needed"),
])  # fmt: skip
def test_wrong_entries_are_refused(entry, message):
    with pytest.raises(InputError) as raised:
        ComparisonReward("answers.csv", **entry)
    assert str(raised.value) == message


def test_a_group_is_not_split_again(labelled, problem):
    with pytest.raises(InputError, match="the reward is that of a group already"):
        split(labelled, problem, group="owner")


def test_a_number_names_the_group_that_its_text_names(opposed, problem, log):
    file = opposed(2, 3, columns=(*COLUMNS, "group_id"), more=lambda user: ("1" if user[0] == "a" else "2",))
    assert ComparisonReward(str(file), group=1).fit(log, problem).provenance()["users"] == 2


def test_a_type_that_nobody_is_of_is_refused(opposed, problem, log):
    with pytest.raises(DataError, match="nobody is of type 8 of 8"):
        ComparisonReward(str(opposed(1, 1)), type=8, types=8).fit(log, problem)
