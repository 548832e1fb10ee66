"""Dialogues as text and as turns."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.preferences.texts import SPEAKERS, Turn, dialogue, is_dialogue, split, turns

WORDS = st.text(alphabet="abc d", min_size=1, max_size=8).map(str.strip)
TALK = st.lists(st.builds(Turn, st.sampled_from(sorted(SPEAKERS)), WORDS), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(TALK)
def test_turns_come_back(said):
    assert turns(dialogue(said)) == tuple(said)


@settings(max_examples=100, deadline=None)
@given(TALK, TALK, TALK)
def test_prompt_and_answer_are_the_dialogue_as_it_was(start, one, two):
    chosen, rejected = dialogue([*start, *one]), dialogue([*start, *two])
    parts = split(chosen, rejected)
    assert parts.prompt + parts.chosen == chosen
    assert parts.prompt + parts.rejected == rejected
    assert parts.prompt.startswith(dialogue(start))
    shared = 0  # one by one: whole turns in common, never the last of either
    while shared < min(len(start) + len(one), len(start) + len(two)) - 1 and (
        [*start, *one][shared] == [*start, *two][shared]
    ):
        shared += 1
    assert parts.prompt.removesuffix("\n\nAssistant:") == dialogue([*start, *one][:shared])


def test_text_that_is_no_dialogue():
    assert not is_dialogue("Human: hello")
    assert turns("hello\n\nHuman: there") == (Turn("user", "hello\n\nHuman: there"),)
    parts = split("The sky is blue", "The sky is green")
    assert (parts.prompt, parts.chosen, parts.rejected) == ("", "The sky is blue", "The sky is green")


def test_where_the_assistant_goes_on_the_prompt_ends_with_its_name():
    parts = split("\n\nHuman: hi\n\nAssistant: yes", "\n\nHuman: hi\n\nAssistant: no")
    assert (parts.prompt, parts.chosen, parts.rejected) == ("\n\nHuman: hi\n\nAssistant:", " yes", " no")
