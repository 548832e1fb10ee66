"""Rules from candidates to slates, by what they read: one rule, one file."""
