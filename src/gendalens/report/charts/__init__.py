"""Charts, for pages and as files."""
