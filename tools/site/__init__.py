"""What builds the documentation site beside mkdocs itself."""
