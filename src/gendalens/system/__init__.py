"""Guards against scarce memory, hostile files and processors that promise too much."""
