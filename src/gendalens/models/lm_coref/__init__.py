"""Language models as prompted coreference resolvers."""
