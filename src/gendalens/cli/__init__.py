"""The command line: each command parses its arguments, calls the API and prints."""
