"""Make the printed blocks and quoted figures of the documents by their commands; see ``docs/README.md``."""
