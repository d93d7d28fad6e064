"""The test sets written for this project and shipped with it under CC BY 4.0."""
