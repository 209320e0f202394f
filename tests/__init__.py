"""The test suite; `tests.requirements` runs alone too, with the standard library only."""
