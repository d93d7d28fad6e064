"""What a test gives back: the result type, its signature, and the folder it is written to."""
