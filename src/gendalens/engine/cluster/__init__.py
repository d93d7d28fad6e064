"""Models on a Ray cluster: the driver plans and stores as at home, workers answer its batches."""
