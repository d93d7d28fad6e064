"""What a person sees of a result."""
