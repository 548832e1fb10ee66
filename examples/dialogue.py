"""Explain a decision to somebody who knows other things, and see what comes of it.

A clinician grants a bed; a bed manager holds that the patient cannot be treated. Three ways for that to go: the manager
gives way, both learn, nobody moves.

    python examples/dialogue.py
"""

from __future__ import annotations

from accordant.deliberation.dialogue import KnowledgeBase, reconcile, scripted

CLINICIAN = KnowledgeBase.parse("""
severe
treatable
severe & treatable -> grant
""")
MANAGER = KnowledgeBase.parse("""
severe
¬treatable        # give a line a weight, such as "¬treatable @ 2", and it is given up less easily
beds_full
""")
ASKS = ["query grant", "refute ¬treatable"]
WAYS = {
    "the manager gives way": (["support grant"], [*ASKS, "concede treatable", "understand grant"]),
    "both learn": (
        ["support grant", "skip", "concede beds_full"],
        [*ASKS, "support beds_full", "concede treatable", "understand grant"],
    ),
    "nobody moves": (["support grant", "agree_to_disagree grant"], ASKS),
}


def main() -> None:
    """Print the three dialogues, then the outcome of rule-based speakers."""
    for title, (clinician, manager) in WAYS.items():
        dialogue = reconcile(CLINICIAN, MANAGER, "grant", policies=(scripted(clinician), scripted(manager)))
        print(f"{title}:", *dialogue.lines(), sep="\n", end="\n\n")
    for policy in ("cooperative", "stubborn", "capitulating"):
        dialogue = reconcile(CLINICIAN, MANAGER, "grant", policies=("cooperative", policy))
        print(f"cooperative clinician, {policy} manager: {dialogue.status}, understanding {dialogue.after.value:g}")


if __name__ == "__main__":
    main()
