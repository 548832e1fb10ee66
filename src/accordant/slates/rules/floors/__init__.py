"""Floors: lists that leave no stakeholder below a declared normalised utility.

floored        the rule: another rule's lists, repaired where they break a floor
exchanges      repairs by the exchanges that cost least
proofs         exact search for one user, and bounds that prove that no list holds all floors
"""
