"""Fuzz targets, one file per reader."""
