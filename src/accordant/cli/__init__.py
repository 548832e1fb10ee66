"""The command line: every command is a few lines over `accordant.runs`."""
