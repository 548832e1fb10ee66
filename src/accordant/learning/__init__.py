"""Learning: from logged decisions and stated rewards to expected rewards E.

outcome_models     f(o | x, a), fitted; `classification` and `causal` hold the estimators behind it
reward_models      q_i(x, a, o): stated, or learned from what stakeholders said about augmented rows
expectation        E[i, a, t] = Σ_o q_i(x_t, a, o) f(o | x_t, a)
tuning             nested cross-validation by leaving two folds out
cross_fitting      all of it together
"""
