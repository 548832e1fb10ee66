"""Distance rules: Φ is minus how far stakeholders fall short of their ideal point u*."""
