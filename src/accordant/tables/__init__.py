"""Files that users bring: text, JSON lines and tables, read with errors that name the file, the line and the cell."""
