"""Results in the cells of a notebook: the tables and marks of reports, small, in the light or dark of the notebook."""
