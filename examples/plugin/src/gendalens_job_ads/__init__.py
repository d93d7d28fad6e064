"""A plug-in for GenDa Lens: one bias test and one kind of model."""
