"""Rules from candidates to slates, by what they read."""
