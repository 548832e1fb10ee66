import pytest

from accordant.errors import InputError
from accordant.naming import Named, path_name, plain, plain_lines, read_named, read_names


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


@pytest.mark.parametrize("name", ["lending", "Zoë 5", "a-b_c.d", "x" * 100, "é" * 50, "con-1", "名前"])
def test_names_that_become_paths(name):
    assert path_name(name) == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "it has 0 bytes"), ("x" * 101, "it has 101 bytes"), ("é" * 51, "it has 102 bytes"), ("..", "a dot or a space"),
        (".hidden", "a dot or a space"), ("end ", "a dot or a space"), ("a/b", "it holds '/'"), ("a\\b", "it holds"),
        ("../../x", "it holds '/'"), ("C:x", "it holds ':'"), ("\x1b[31m", r"the character \\x1b"), ("a\0", r"\\x00"),
        ("\u202ex", r"\\u202e"), ("a\u200b", r"\\u200b"), ("\udc80", r"\\udc80"), ("NUL", "device"), ("com1.txt", "device"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_part_of_a_path(name, words):
    with pytest.raises(InputError, match=words) as refused:
        path_name(name)
    assert plain(str(refused.value)) == str(refused.value)


def test_lines_stay_lines():
    assert plain_lines("a\r\n\x1b\tb\n") == "a\n\\x1b\\tb\n"
