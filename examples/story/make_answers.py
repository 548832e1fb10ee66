"""Make the answers of the residents of the cases story and story-null, which stand beside the case files.

    python examples/story/make_answers.py

Everybody is made up: `accordant.cases.story.residents` says what each kind of resident wants.
"""

from pathlib import Path

from accordant.cases.story import residents

FILES = {"answers.csv": False, "answers-null.csv": True}  # name to whether all residents want the same


def make() -> dict[str, str]:
    """Return the name and the content of every file."""
    return {
        name: residents.answers(alike=alike).to_csv(index=False, lineterminator="\n") for name, alike in FILES.items()
    }


if __name__ == "__main__":
    for name, text in make().items():
        Path(residents.__file__).with_name(name).write_text(text, encoding="utf-8")
