"""Readers: from public preference data to records.

dsp.py         queries answered in five styles, and users made up with declared tastes
movielens.py   stars for films, with genres and factors of other users as features
numbers.py     items described by numbers, in plain columns
trl.py         pairs of texts: the columns of TRL's trainers, to read and to write, and HH-RLHF
"""

from __future__ import annotations

from accordant.preferences.readers.dsp import StyledAnswers, StyleUsers, dirichlet_users, read_dsp, users_by_share
from accordant.preferences.readers.movielens import MovieRatings, RatingFactors, read_movielens
from accordant.preferences.readers.numbers import NumberedComparisons, read_numbers
from accordant.preferences.readers.trl import read_hh_rlhf, read_trl, trl_from_frame, trl_to_frame, write_trl

__all__ = [
    "MovieRatings", "NumberedComparisons", "RatingFactors", "StyleUsers", "StyledAnswers", "dirichlet_users",
    "read_dsp", "read_hh_rlhf", "read_movielens", "read_numbers", "read_trl", "trl_from_frame", "trl_to_frame",
    "users_by_share", "write_trl",
]  # fmt: skip
