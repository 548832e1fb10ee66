"""Lending Club files as prepared for the published lending case, and simulated loans with their columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from accordant.cases.loaders import Tidy, simulators, tidiers


@tidiers.register("lending_club")
def lending_club_loader() -> Tidy:
    """Return the loader: blanks in headers and values become underscores, placeholder columns go."""

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        """Tidy one table."""
        frame = frame.rename(columns=lambda name: str(name).strip().replace(" ", "_"))
        frame = frame.drop(
            columns=[name for name in frame.columns if name.endswith("_reward") or name == "Applicant_ID"]
        )
        for name in ("Outcome", "Action"):
            if name in frame.columns:
                frame[name] = frame[name].astype(str).str.strip().str.replace(" ", "_")
        return frame

    return tidy


@simulators.register("lending")
def simulate_loans(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated loans, all granted, with the columns of the tidy Lending Club files.

    Marginals (log-normal income, FICO bands, loan sizes, rates) resemble the 2015 file; repayment follows a
    logistic model in rate, credit score and loan-to-income. No row is a real person.
    """
    income = np.clip(np.exp(generator.normal(11.1, 0.5, rows)), 11_500, 650_000).round(-1)
    credit = 660 + 5 * np.floor(np.clip(generator.exponential(32, rows), 0, 189) / 5)
    amount = np.clip(np.exp(generator.normal(9.45, 0.65, rows)), 1000, 35_000).round(-2)
    rate = 0.13 - 0.0005 * (credit - 695) + 0.012 * (amount / 15_000 - 1) + generator.normal(0, 0.035, rows)
    rate = np.clip(rate, 0.0532, 0.2899).round(4)
    odds = 2.0 - 12.0 * (rate - 0.13) + 0.008 * (credit - 695) - 0.8 * (amount / income - 0.2)
    repaid = generator.random(rows) < 1 / (1 + np.exp(-odds))
    partly = ~repaid & (generator.random(rows) < 0.07)
    share = np.where(partly, generator.uniform(0.2, 0.5, rows), generator.uniform(0, 0.2, rows))
    return pd.DataFrame(
        {
            "Income": income,
            "Credit_Score": credit,
            "Loan_Amount": amount,
            "Interest_Rate": rate,
            "Applicant_Type": ((income < 30_000) | (credit < 670)).astype(float),
            "Outcome": np.select([repaid, partly], ["Fully_Repaid", "Partially_Repaid"], "Not_Repaid"),
            "Recoveries": np.where(repaid, 0.0, (share * amount).round(2)),
            "Action": "Grant",
        }
    )
