"""Files that users bring, read with errors that name the file, the line and the cell; and where results are written."""
