"""Prediction files: requests to be answered by any stack, and the answers that come back."""
