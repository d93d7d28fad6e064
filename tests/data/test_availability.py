"""Which official sets a run can use without asking the hub."""

from __future__ import annotations

import pytest

from gendalens.data.registry import is_available


@pytest.mark.usefixtures("own_home")
def test_a_set_in_the_package_index_is_available_and_one_on_the_hub_only_once_fetched() -> None:
    found = {name: is_available(name) for name in ("dawinobias", "abc", "dane")}
    assert found == {"dawinobias": True, "abc": True, "dane": False}
