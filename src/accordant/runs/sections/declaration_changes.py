"""What changed between two declarations, key by key: of a case, or of a scope card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from accordant.sections import Part

Kind = Literal["added", "removed", "changed"]
NAMED = ("name", "metric", "id")  # keys by which entries of a list are told apart
SCOPE = "scope"  # the key of a case that holds its scope card


class Change(Part):
    """One key that is declared otherwise.

    Attributes
    ----------
    key
        Its place, such as ``metrics.Accuracy.weight``; entries of lists by their name, ``strategies[maximin].kind``.
    kind
        ``added``, ``removed`` or ``changed``.
    before, after
        As JSON values; None for what is not there.
    """

    key: str
    kind: Kind
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """The change in words."""
        if self.kind == "changed":
            return f"{self.key}: {self.before!r:.80} before, {self.after!r:.80} now"
        return f"{self.key}: {self.kind}: {(self.after if self.kind == 'added' else self.before)!r:.80}"


class CaseDifference(Part):
    """What two versions of a case declare differently.

    Attributes
    ----------
    first, second
        What the versions are called.
    declaration
        Changes of the case, without its scope card.
    card
        Changes of the scope card.
    """

    first: str
    second: str
    declaration: tuple[Change, ...]
    card: tuple[Change, ...]

    @classmethod
    def of(cls, names: tuple[str, str], first: Mapping[str, Any], second: Mapping[str, Any]) -> CaseDifference:
        """Compare two declarations; `names`: what they are called."""
        changes = tuple(declaration_changes(first, second))
        card = tuple(change for change in changes if change.key.split(".")[0] == SCOPE)
        return cls(
            first=names[0],
            second=names[1],
            declaration=tuple(change for change in changes if change not in card),
            card=card,
        )


def declaration_changes(before: Any, after: Any, key: str = "") -> Iterator[Change]:
    """Yield the keys in which two declarations differ, in the order of the first, then of the second.

    Parameters
    ----------
    before, after
        JSON values. Mappings are compared key by key, and lists entry by entry if all of their entries have names of
        their own; other lists as a whole.
    key
        Place of these values; empty at the top.
    """
    one, other = _entries(before), _entries(after)
    if one is None or other is None or isinstance(before, Mapping) != isinstance(after, Mapping):
        if before != after:
            yield Change(key=key, kind="changed", before=before, after=after)
        return
    form = "{}.{}" if isinstance(before, Mapping) else "{}[{}]"
    for name in dict.fromkeys((*one, *other)):
        place = form.format(key, name) if key else name
        if name not in other:
            yield Change(key=place, kind="removed", before=one[name], after=None)
        elif name not in one:
            yield Change(key=place, kind="added", before=None, after=other[name])
        else:
            yield from declaration_changes(one[name], other[name], place)


def _entries(value: Any) -> dict[str, Any] | None:
    """Return entries by their name; None for what is compared as a whole."""
    if isinstance(value, Mapping):
        return {str(name): part for name, part in value.items()}
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return None
    for name in NAMED:
        if all(isinstance(part, Mapping) and isinstance(part.get(name), str) for part in value):
            names = [part[name] for part in value]
            if len(set(names)) == len(names):
                return dict(zip(names, value, strict=True))
    return None
