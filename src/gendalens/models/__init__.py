"""Models: requests and answers, and one file or package for each kind of model."""
