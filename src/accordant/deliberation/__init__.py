"""Deliberation: agents argue, bargain and vote until there is a joint decision, and all of it is on record.

Vocabulary
----------
debate
    Three rounds: blind proposals, contestation, settlement by a named rule.
solo, revised, joint
    What an agent wants alone, what it proposes after contestation, what is decided together.
settlement
    The named rule that fixes the joint decision.
transcript
    Every move in order, with what was void and why.
ledger
    Who moved on which patient, towards whom, and with which reason.
"""

from __future__ import annotations
