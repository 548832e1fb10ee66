"""Children that look like the IHDP benchmark, for runs without data."""

from __future__ import annotations

import numpy as np
import pandas as pd

from accordant.cases.loaders import simulators

TREATMENT_EFFECT = 4.0  # on the treated, as in Hill's (2011) response surface B


@simulators.register("health")
def simulate_children(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated children in the manner of Hill (2011), response surface B.

    Six standardised and 19 binary covariates; treatment is rarer where x1 is low; the mean outcome is
    exponential in the covariates under control and linear under treatment.
    """
    continuous = generator.normal(size=(rows, 6))
    shares = np.linspace(0.15, 0.85, 19)
    shares[16] = 0.07  # x23, the protected group, is small in the benchmark too
    binary = (generator.random((rows, 19)) < shares).astype(float)
    covariates = np.hstack([continuous, binary])
    coefficients = generator.choice([0.0, 0.1, 0.2, 0.3, 0.4], size=25, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    treated = generator.random(rows) < 1 / (1 + np.exp(1.5 - 0.4 * continuous[:, 0] - 0.4 * binary[:, 3]))
    control_mean = np.exp(
        (covariates + 0.5) @ coefficients * 0.25
    )  # damped: a fresh draw of coefficients must not explode
    linear = covariates @ coefficients
    treated_mean = linear - (linear[treated].mean() - control_mean[treated].mean()) + TREATMENT_EFFECT
    mean = np.where(treated, treated_mean, control_mean)
    outcome = np.maximum(0.0, mean + generator.normal(size=rows)).round(1)
    table = {"Action": np.where(treated, "A", "C"), "Outcome": outcome}
    table |= {"mu0": control_mean.round(1), "mu1": treated_mean.round(1)}
    return pd.DataFrame(table | {f"x{column + 1}": covariates[:, column] for column in range(25)})
