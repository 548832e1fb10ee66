"""Slates: lists of items that are chosen together.

consumption/    how many items of each type to show to somebody who will take only a few of them
"""
