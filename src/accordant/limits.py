"""How much of what others wrote is read before it is refused: every limit with its reason, in one place.

The page ``docs/reference/limits.md`` is made from this module.
"""

from __future__ import annotations

from dataclasses import dataclass

from accordant.errors import DataError

SCIENTIFIC_FROM = 10**15  # numbers that nobody counts the digits of


@dataclass(frozen=True)
class Limit:
    """The most that is read of something.

    Attributes
    ----------
    most
        The number, itself allowed.
    counted
        What is counted, in the plural, for messages.
    reason
        Why there is a limit, and why here.
    """

    most: int
    counted: str
    reason: str

    @property
    def written(self) -> str:
        """The number as people read it."""
        return f"{self.most:,}" if self.most < SCIENTIFIC_FROM else f"{self.most:.0e}"

    def check(self, count: int, where: str) -> None:
        """Refuse more than the limit allows.

        Raises
        ------
        DataError
            With what was found where, and what is allowed.
        """
        if count > self.most:
            raise DataError(f"{where}: {count:,} {self.counted}; allowed: at most {self.written}")

    def refusal(self, where: str) -> DataError:
        """Return the error for what goes on beyond the limit, of which nobody knows how far."""
        return DataError(f"{where}: more than {self.written} {self.counted}; allowed: at most so many")


CASE_BYTES = Limit(2**19, "bytes of YAML", "YAML is read at some 100 kB a second; the longest built-in case has 10 kB")
VALUES = Limit(50_000, "values, those behind aliases counted each time", "a few aliases of aliases stand for millions")
NESTING = Limit(64, "levels of nesting", "what reads, checks and prints a value calls itself once a level")
INTEGER_DIGITS = Limit(300, "digits of a whole number", "a number has to fit a float, which ends at 1.8e308")
MAGNITUDE = Limit(
    10**150, "of a feature or an outcome, with either sign", "models add squares up, and a float ends at 1.8e308"
)
TEXT_BYTES = Limit(2**28, "bytes", "ballots, JSON, comparisons and rankings are held whole, at ten times their size")
TABLE_CHARACTERS = Limit(
    2**30, "characters of a table that is held whole", "in memory a table takes several times its size as text"
)
STREAM_CHARACTERS = Limit(
    2**27, "characters of a stream that is held whole", "what comes from standard input may never end"
)
TABLE_CELLS = Limit(2**27, "cells of a table that is held whole", "as numbers they take one GiB of memory")
TABLE_BYTES = Limit(2**30, "bytes of a table that is held whole", "a small file may unpack to any size")
WORKBOOK_BYTES = Limit(2**28, "bytes of a workbook, unpacked", "a sheet takes several times its size while it is read")
SECTION_BYTES = Limit(2**26, "bytes of a section", "every command on a run reads all sections that were added to it")
SECTION_RADII = Limit(
    200_000, "radii of single rows in a section of certificates", "further rows are counted there, and not listed"
)
LINE_CHARACTERS = Limit(2**23, "characters in one line", "a line is held whole, and some files have no second one")
COLUMNS = Limit(10_000, "columns", "each column is an array of its own, whether a case uses it or not")
BALLOT_CELLS = Limit(
    50_000_000, "cells of ballots, a row for each and a column for each alternative", "each is a number in memory"
)
AGENTS = Limit(20, "agents in one deliberation", "each answers each other one, and orders of them are compared")
CLAIMANTS = Limit(500, "people in one deliberation", "what settles it is a programme over all of their shares")
EXACT_PROJECTS = Limit(
    500, "projects whose voters pay in exact fractions", "every purchase changes what all others cost their voters"
)
ALTERNATIVES = Limit(
    1_000, "alternatives of an election", "strongest paths need time with the third power of their number"
)
PAIRED_WORK = Limit(
    10**9, "ballots times the square of alternatives", "every two alternatives are compared on every ballot"
)
