"""Instances of classes that need not be imported."""

from __future__ import annotations

import sys


def is_instance(value: object, module: str, *names: str) -> bool:
    """Whether a value is an instance of one of a module's classes.

    Nothing is imported: a class whose module was never imported has no instances.

    >>> import decimal
    >>> is_instance(decimal.Decimal(1), "decimal", "Decimal")
    True
    >>> is_instance(1, "a_library_that_is_not_imported", "Model")
    False
    """
    home = sys.modules.get(module)
    classes = (getattr(home, name, None) for name in names)
    return any(isinstance(one, type) and isinstance(value, one) for one in classes)
