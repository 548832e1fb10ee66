"""Reachable sets of rules whose reference points come from the context: pair by pair, with known attacks.

A misreport that moves the worst or best action of a row moves the scores of every action, so no single report helps an
action most. What is exact is the question for two actions, whether the first can be ahead of the second: rows of
different stakeholders are independent, and in each the best report for it is known. An action that cannot get ahead of
every other one, each taken by itself, is ruled out; a search among corners of the box finds attacks for those left.
"""
