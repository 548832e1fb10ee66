"""Enrolments in the form of the Open University Learning Analytics Dataset, OULAD (Kuzilek, Hlosta and Zdrahal 2017).

The column ``imd_band`` says how deprived the area of a student is: ``0-10%`` is the most deprived tenth. Spreadsheets
read the band 10-20 as the twentieth of October, so public copies hold ``20-Oct``. It is the only band that can become
a date: no other has a month before its dash and a day of that month behind it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.cases.loaders import Tidy, repaired, repairs_of, simulators, tidiers
from accordant.errors import MissingColumnError
from accordant.tables.cells import cell_error, cell_text

logger = logging.getLogger(__name__)

MODULES = ("AAA", "BBB", "CCC", "DDD", "EEE", "FFF", "GGG")
RESULTS = ("Distinction", "Pass", "Fail", "Withdrawn")
EDUCATION = (
    *("No Formal quals", "Lower Than A Level", "A Level or Equivalent"),
    *("HE Qualification", "Post Graduate Qualification"),
)
"""Highest education, lowest first; its place is ``Education_level``, 0 to 4."""

BANDS = tuple(f"{low}-{low + 10}%" for low in range(0, 100, 10))
UNKNOWN = "unknown"
DATED_BAND = "10-20%"
DEPRIVED = BANDS[:2]  # the most deprived fifth of areas [ours]

PRESENTATION = re.compile(r"(\d{4})([BJ])")
MONTHS = {"B": "02", "J": "10"}
PLAIN_BAND = re.compile(r"(\d{1,2})\s*[-\u2013\u2014]\s*(\d{2,3})\s*%?")
OCTOBER = r"(?:oct|okt|ott|out)[a-z]*\.?"  # as spreadsheets in English, German, Italian and Portuguese write it
CLOCK = r"(?:[ t]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"
DATE = re.compile(
    rf"20\.?[-/ ]*{OCTOBER}(?:[-/ ]*(?:\d{{2}}|\d{{4}}))?|{OCTOBER}[-/ ]*20(?:,? *\d{{4}})?"
    rf"|10/20(?:/(?:\d{{2}}|\d{{4}}))?|\d{{4}}-10-20{CLOCK}",
    re.IGNORECASE,
)


@tidiers.register("oulad")
def oulad_loader() -> Tidy:
    """Return the loader: blanks are stripped, bands repaired, and what models and rewards read is added."""
    return tidy_enrolments


@tidiers.register("oulad_first")
def oulad_first_loader() -> Tidy:
    """Return the loader that keeps the first enrolment of each student, so that nobody is in two parts of the data.

    Rows without results, such as new students, are all kept.
    """

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        """Tidy one table."""
        enrolments = tidy_enrolments(frame)
        if "final_result" not in enrolments.columns:
            return enrolments
        return repaired(first_enrolments(enrolments), *repairs_of(enrolments))

    return tidy


def tidy_enrolments(frame: pd.DataFrame) -> pd.DataFrame:
    """Return enrolments with repaired bands and four more columns; a tidy table stays as it is.

    Added: ``Education_level`` (place in `EDUCATION`), ``Area_rank`` (lower end of the band, 0.0 most deprived to 0.9,
    NaN if unknown), ``Priority`` (``deprived or disabled``, ``other``, or ``unknown`` where the band is missing and
    no disability is recorded) and ``Start`` (first day of the month in which a presentation begins: ``2013B`` is
    ``2013-02-01``, ``2013J`` is ``2013-10-01``). In how many rows bands were repaired is logged as a warning, and the
    table carries it (`accordant.cases.loaders`). Columns may be missing: whoever needs one says so.

    Raises
    ------
    DataError
        If a band, an education, a disability or a presentation cannot be used; column and row are named.
    """
    columns: dict[str, Any] = {}
    repairs: tuple[str, ...] = ()
    for name in frame.columns:
        texts = [cell_text(value) for value in frame[name].tolist()]
        numeric = pd.api.types.is_numeric_dtype(frame[name])
        columns[str(name).strip()] = frame[name].to_numpy() if numeric else texts
    if "imd_band" in columns:
        raw = [None if text is None else str(text) for text in columns["imd_band"]]
        columns["imd_band"] = _each("imd_band", raw, band_of)
        columns["Area_rank"] = [_rank(band) for band in columns["imd_band"]]
        repairs = _told(raw, columns["imd_band"])
    if "highest_education" in columns:
        columns["Education_level"] = _each("highest_education", columns["highest_education"], _level)
    if {"imd_band", "disability"} <= set(columns):
        disabled = _each("disability", columns["disability"], _disabled)
        columns["Priority"] = [_priority(*pair) for pair in zip(columns["imd_band"], disabled, strict=True)]
    if "code_presentation" in columns:
        columns["Start"] = _each("code_presentation", columns["code_presentation"], start_of)
    return repaired(pd.DataFrame(columns, index=frame.index), *repairs_of(frame), *repairs)


def repaired_bands(frame: pd.DataFrame) -> int:
    """Return in how many rows of a raw table ``imd_band`` needs a repair; missing bands are not counted.

    Raises
    ------
    InputError
        If there is no such column, or a band cannot be read.
    """
    if "imd_band" not in frame.columns:
        raise MissingColumnError("imd_band", frame.columns)
    raw = [cell_text(value) for value in frame["imd_band"].tolist()]
    return len(_changed(raw, _each("imd_band", raw, band_of)))


def band_of(text: str | None) -> str:
    """Return the band that a cell stands for: one of `BANDS`, or ``unknown`` if it is missing.

    ``10-20``, ``10 - 20 %``, ``20-Oct``, ``Oct-20`` and other ways to write the twentieth of October are ``10-20%``.

    Raises
    ------
    ValueError
        If it is no band; the message says what is allowed.
    """
    if text is None or text == UNKNOWN:
        return UNKNOWN
    if DATE.fullmatch(text):
        return DATED_BAND
    match = PLAIN_BAND.fullmatch(text)
    band = f"{int(match[1])}-{int(match[2])}%" if match else text
    if band not in BANDS:
        raise ValueError(f"{', '.join(BANDS)}, or nothing")
    return band


def start_of(text: str | None) -> str:
    """Return the first day of the month in which a presentation begins: B is February, J is October.

    Raises
    ------
    ValueError
        If it is no presentation; the message says what is allowed.
    """
    match = PRESENTATION.fullmatch(text or "")
    if match is None:
        raise ValueError("a year and a letter, such as 2013B (February) or 2013J (October)")
    return f"{match[1]}-{MONTHS[match[2]]}-01"


def first_enrolments(enrolments: pd.DataFrame) -> pd.DataFrame:
    """Return the earliest enrolment of each student, in the order of the table; of one date the first row.

    Raises
    ------
    MissingColumnError
        If ``id_student`` or ``code_presentation`` is missing.
    """
    for name in ("id_student", "code_presentation"):
        if name not in enrolments.columns:
            raise MissingColumnError(name, enrolments.columns)
    by_date = enrolments.sort_values("code_presentation", kind="stable")  # 2013B (February) before 2013J (October)
    return enrolments.loc[by_date.drop_duplicates("id_student").index.sort_values()]


def _each(name: str, texts: list[str | None], read: Callable[[str | None], Any]) -> list[Any]:
    """Return what is read from each cell; what cannot be read is an error that names column and row."""
    known: dict[str | None, Any] = {}
    for row, text in enumerate(texts):
        if text not in known:
            try:
                known[text] = read(text)
            except ValueError as error:
                raise cell_error(name, row, text, str(error)) from None
    return [known[text] for text in texts]


def _changed(raw: list[str | None], bands: list[str]) -> list[tuple[str, str]]:
    """Return text and band wherever they differ; missing bands are left out."""
    return [(text, band) for text, band in zip(raw, bands, strict=True) if text is not None and text != band]


def _told(raw: list[str | None], bands: list[str]) -> tuple[str, ...]:
    """Log how many bands were repaired, and return the sentence; nothing if none was."""
    changed = _changed(raw, bands)
    if not changed:
        return ()
    text, band = changed[0]
    sentence = (
        f"The loader repaired imd_band in {len(changed)} of {len(raw)} rows: {text!r}, for example, became {band!r}."
    )
    logger.warning(sentence)
    return (sentence,)


def _rank(band: str) -> float:
    return np.nan if band == UNKNOWN else BANDS.index(band) / 10


def _level(text: str | None) -> float:
    if text is None:
        return np.nan
    if text not in EDUCATION:
        raise ValueError(f"{', '.join(EDUCATION)}, or nothing")
    return float(EDUCATION.index(text))


def _disabled(text: str | None) -> bool:
    if text not in ("Y", "N"):
        raise ValueError("Y, N")
    return text == "Y"


def _priority(band: str, disabled: bool) -> str:
    if disabled or band in DEPRIVED:
        return "deprived or disabled"
    return UNKNOWN if band == UNKNOWN else "other"


# rounded from the public file: shares of the modules, and of the results in each module
SHARES = (0.023, 0.243, 0.136, 0.192, 0.090, 0.238, 0.078)
RESULTS_IN = {  # Distinction, Pass, Fail, Withdrawn
    "AAA": (0.06, 0.65, 0.12, 0.17),
    "BBB": (0.09, 0.39, 0.22, 0.30),
    "CCC": (0.11, 0.27, 0.18, 0.44),
    "DDD": (0.06, 0.35, 0.23, 0.36),
    "EEE": (0.12, 0.44, 0.19, 0.25),
    "FFF": (0.09, 0.38, 0.22, 0.31),
    "GGG": (0.16, 0.44, 0.29, 0.11),
}
WOMEN_IN = (0.42, 0.88, 0.25, 0.40, 0.11, 0.18, 0.81)
EDUCATION_SHARES = (0.01, 0.40, 0.43, 0.145, 0.015)
DISABLED, BAND_MISSING = 0.1, 0.034
AGAIN = 0.12  # of enrolments belong to somebody who has another one

# what moves the log-odds of Distinction, Pass and Fail against Withdrawn [ours]
PER_LEVEL = (0.5, 0.25, -0.1)  # one level of education, from level 2
PER_RANK = (1.0, 0.6, -0.2)  # from the most to the least deprived area, from the middle
IF_DISABLED = (-0.5, -0.35, -0.1)
STEEPER = {"CCC": 1.5, "EEE": 0.5}  # factor on education; in all other modules 1
CHOICE_PER_LEVEL = (0.5, -0.1, 0.1, 0.0, 0.1, 0.0, -0.3)  # how education moves the choice of a module


@simulators.register("education")
def simulate_enrolments(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated enrolments in the form of `accordant.cases.education.enrolments.tidy_enrolments`.

    Students choose their module by education and gender; the result depends on module, education, area and disability
    as in `true_chances`, and on nothing else, so that nothing confounds which is not in the table. Some students
    have two enrolments, with the same facts about them. Source: ours.
    """
    n_again = round(AGAIN * rows)
    again = generator.spawn(1)[0].choice(rows - n_again, size=n_again, replace=False)
    person = np.concatenate([np.arange(rows - n_again), again])
    women = (generator.random(rows) < 0.45)[person]
    level = generator.choice(len(EDUCATION), size=rows, p=EDUCATION_SHARES)[person]
    drawn_band = generator.integers(0, len(BANDS), rows)
    band = np.where(generator.random(rows) < BAND_MISSING, "", np.array(BANDS)[drawn_band])[person]
    gendered = np.where(women[:, None], WOMEN_IN, 1 - np.array(WOMEN_IN))
    chosen = _drawn(np.log(SHARES) + np.log(gendered) + np.outer(level - 2, CHOICE_PER_LEVEL), generator)
    raw = pd.DataFrame(
        {
            "code_module": np.array(MODULES)[chosen],
            "code_presentation": generator.choice(["2013B", "2013J", "2014B", "2014J"], size=rows),
            "id_student": person + 1,
            "gender": np.where(women, "F", "M"),
            "region": generator.choice(["Scotland", "Wales", "London Region", "North Region"], size=rows)[person],
            "highest_education": np.array(EDUCATION)[level],
            "imd_band": band,
            "age_band": generator.choice(["0-35", "35-55", "55<="], size=rows, p=[0.70, 0.29, 0.01])[person],
            "num_of_prev_attempts": generator.choice(3, size=rows, p=[0.88, 0.10, 0.02]),
            "studied_credits": generator.choice([30, 60, 90, 120], size=rows, p=[0.1, 0.5, 0.15, 0.25]),
            "disability": np.where(generator.random(rows) < DISABLED, "Y", "N")[person],
        }
    )
    enrolments = tidy_enrolments(raw)
    chances = true_chances(enrolments)[chosen, :, np.arange(rows)]
    results = np.array(RESULTS)[_drawn(np.log(chances), generator)]
    return enrolments.assign(final_result=results)


def true_chances(enrolments: pd.DataFrame) -> Values:
    """Return the simulator's f(o | x, a), shape (module, result, student), in the order of `MODULES` and `RESULTS`.

    A multinomial logistic model: the shares of results in a module, moved by education, area and disability. A missing
    area counts as the middle.
    """
    level = enrolments["Education_level"].to_numpy(dtype=np.float64) - 2
    rank = enrolments["Area_rank"].fillna(0.45).to_numpy(dtype=np.float64) - 0.45
    disabled = (enrolments["disability"] == "Y").to_numpy(dtype=np.float64)
    chances = []
    for module in MODULES:
        effect = STEEPER.get(module, 1.0) * np.outer((*PER_LEVEL, 0.0), level)
        effect += np.outer((*PER_RANK, 0.0), rank) + np.outer((*IF_DISABLED, 0.0), disabled)
        weights = np.exp(np.log(RESULTS_IN[module])[:, None] + effect)
        chances.append(weights / weights.sum(axis=0))
    return np.stack(chances)


def _drawn(log_weights: Values, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return one draw per row with probabilities proportional to exp(log_weights), shape (row,)."""
    return np.asarray((log_weights + generator.gumbel(size=log_weights.shape)).argmax(axis=1))
