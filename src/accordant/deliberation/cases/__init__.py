"""Cases of deliberation: declared in YAML, with loaders and simulators of their scenarios."""
