"""Words of a text, as word retrievers count them: a small tokenizer that is declared here and fetches nothing."""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"[^\W_]+")

FUNCTION_WORDS = frozenset(
    """
    a about all also an and any are as at be because been between but by can could did do does each for from had has
    have he her his how i if in into is it its many may more most much must no nor not of on one only or other our
    out over own she should so some such than that the their them then there these they this those to under up was
    we what when where which while who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a hundred quoted words do not read
)  # say little about what a passage is on; English alone, words of other languages all count


def words(text: str) -> list[str]:
    """Return the words that count, in their order, with repetitions.

    Runs of letters and digits, without regard to case or to the way accents are encoded; ``worst_off`` is two words.
    Function words are left out, and English plurals are folded by the S stemmer (Harman 1991, "How effective is
    suffixing?"). Languages that put no spaces between words are not split.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [_singular(word) for word in WORD.findall(folded) if word not in FUNCTION_WORDS]


def _singular(word: str) -> str:
    """Return a word without an English plural ending; the first rule whose ending fits decides."""
    if len(word) <= 3:
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    if word.endswith("es"):
        return word if word.endswith(("aes", "ees", "oes")) else word[:-1]
    if word.endswith("s"):
        return word if word.endswith(("us", "ss")) else word[:-1]
    return word
