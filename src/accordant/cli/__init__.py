"""The command line: every command is a few lines over the room that does the work, most often `accordant.runs`."""
