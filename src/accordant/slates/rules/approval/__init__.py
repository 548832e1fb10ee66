"""Multiwinner rules on approvals: every stakeholder approves some items, and the list represents them all.

approvals       who approves what, and the base of these rules
sequential      one place after the other, by what the approvals of each stakeholder still count
"""
