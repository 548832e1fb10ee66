"""Triage: whom to treat first when there are more patients than beds."""
