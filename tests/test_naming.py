import pytest

from accordant.errors import InputError
from accordant.naming import Named, read_named, read_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rawlsian", Named("rawlsian")),
        (" biased[strength=0.3] ", Named("biased", {"strength": 0.3})),
        ("low[a=[1, 2],b=true]", Named("low", {"a": [1, 2], "b": True})),
        ("x[word=near, other='two words']", Named("x", {"word": "near", "other": "two words"})),
    ],
)
def test_a_name_with_parameters(text, expected):
    assert read_named(text, "--agents") == expected


def test_commas_in_brackets_do_not_part_names():
    found = read_names("rawlsian,biased[strength=0.3,favoured_value=a], utilitarian", "--agents")
    assert found == (
        Named("rawlsian"),
        Named("biased", {"strength": 0.3, "favoured_value": "a"}),
        Named("utilitarian"),
    )


@pytest.mark.parametrize("text", ["two words", "name[", "name[x]", "[x=1]"])
def test_another_form_is_refused_with_what_is_allowed(text):
    with pytest.raises(InputError, match="--agents is .*allowed"):
        read_named(text, "--agents")


@pytest.mark.parametrize("text", ["", " , ,"])
def test_no_name_is_refused(text):
    with pytest.raises(InputError, match="--agents is"):
        read_names(text, "--agents")


@pytest.mark.parametrize("text", ["a,,b", "a,", ",a", "a, ,b[x=1]"])
def test_a_name_that_is_missing_between_commas_is_refused(text):
    with pytest.raises(InputError, match="a name is missing beside a comma"):
        read_names(text, "--agents")


def test_lists_within_parameters_do_not_part_names():
    found = read_names("low[b=true,a=[1, 2]],high[a=[[1],[2]]]", "--agents")
    assert found == (Named("low", {"b": True, "a": [1, 2]}), Named("high", {"a": [[1], [2]]}))
