"""Results for people: in the terminal, as pages, charts and exports."""
