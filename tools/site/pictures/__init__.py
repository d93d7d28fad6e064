"""The pictures of the documentation: drawn by ``make pictures``, compared by the tests.

Each picture holds what it says as text, so that a test can tell when the product says something else.
"""
