"""Language models as coreference resolvers, by a prompt."""
