"""Education: which module next, and who gets tutoring."""
