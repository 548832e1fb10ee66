"""The documentation as a site: pages of the repository and a reference made from registries, built by Sphinx."""
