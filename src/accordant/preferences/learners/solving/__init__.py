"""How convex problems of preference learners are solved.

newton.py     Newton's method by conjugate gradients, for functions of a linear map
logistic.py   the problem that linear learners of comparisons share
"""
