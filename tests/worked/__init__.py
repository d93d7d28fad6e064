"""The five tests on small made-up data whose every figure is worked out a second time.

Nothing here calls the functions that compute figures in the package: counts are counted in plain
lists, and intervals follow the formulas of the method as they are written down.
"""
