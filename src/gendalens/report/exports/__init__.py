"""A run written for papers, model cards and databases of evaluations."""
