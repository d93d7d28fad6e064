"""spaCy pipelines that find entities."""
