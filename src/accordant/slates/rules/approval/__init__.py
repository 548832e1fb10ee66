"""Multiwinner rules on approvals: every stakeholder approves some items, and the list represents them all.

approvals       who approves what, and the base of these rules
seq_phragmen    every item costs its approvers one unit of load
equal_shares    everybody holds the same share of the places and pays for what it wants
sequential      one place after the other, by what the approvals of each stakeholder still count
"""
