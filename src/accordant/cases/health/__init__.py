"""Health: which infants get home visits."""
