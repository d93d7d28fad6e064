"""The test sets that this project wrote itself and ships: no fetching, CC BY 4.0."""
