"""Re-rankers that trade what a list is worth against how alike its items are, by categories: one rule, one file."""
