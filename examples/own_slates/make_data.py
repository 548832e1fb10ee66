"""Make `loans.csv` and `books.csv`: an invented library, its readers and two years of loans."""

from pathlib import Path

import numpy as np
import pandas as pd

BOOKS, READERS, WEEKS, SEED = 60, 90, 60, 11
SHELVES = ("crime", "history", "nature", "poetry", "travel")
PUBLISHERS = ("Harbour House", "Lantern", "Quill and Daughters", "Small Press")
START = pd.Timestamp("2024-01-01")


def books(generator: np.random.Generator) -> pd.DataFrame:
    """Return books; large publishers have most of what is well known, and few copies of each book are there."""
    shelf = generator.choice(SHELVES, BOOKS, p=[0.35, 0.2, 0.2, 0.1, 0.15]).astype(object)
    publisher = generator.choice(PUBLISHERS, BOOKS, p=[0.4, 0.3, 0.15, 0.15])
    shelf[[17, 41]] = None
    return pd.DataFrame(
        {
            "book": [f"B{number:02}" for number in range(1, BOOKS + 1)],
            "shelf": shelf,
            "publisher": publisher,
            "copies": generator.integers(1, 4, BOOKS),
        }
    )


def loans(table: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Return loans: of what the reader's shelves and fame suggest; nobody borrows a book twice."""
    fame = generator.gumbel(0.0, 1.0, BOOKS) + table["publisher"].isin(PUBLISHERS[:2]).to_numpy() * 0.8
    joined = np.where(generator.random(READERS) < 0.8, 0, generator.integers(1, WEEKS, READERS))
    taste = generator.choice(SHELVES, (READERS, 2), p=[0.4, 0.2, 0.15, 0.05, 0.2])
    had = np.zeros((READERS, BOOKS), dtype=bool)
    rows = []
    for week in range(WEEKS):
        for reader in np.flatnonzero((joined <= week) & (generator.random(READERS) < 0.2)):
            suits = 1.8 * table["shelf"].isin(taste[reader]).to_numpy() + fame
            day = START + pd.Timedelta(days=7 * week + int(generator.choice([1, 3, 5])))
            drawn = suits + generator.gumbel(size=BOOKS) - 99.0 * had[reader]
            for book in np.argsort(-drawn)[: generator.integers(1, 4)]:
                had[reader, book] = True
                rows.append((f"R{reader + 1:03}", table["book"][book], day.date().isoformat()))
    return pd.DataFrame(rows, columns=["reader", "book", "lent"])


if __name__ == "__main__":
    draw = np.random.default_rng(SEED)
    here, table = Path(__file__).parent, books(draw)
    table.to_csv(here / "books.csv", index=False)
    loans(table, draw).to_csv(here / "loans.csv", index=False)
