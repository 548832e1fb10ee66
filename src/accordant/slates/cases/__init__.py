"""Cases of slates: declared in YAML, with loaders and simulators of their markets."""
