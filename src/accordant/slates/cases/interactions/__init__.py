"""One's own data for slates: a table of who took what when, and one of items."""
