"""Tests and models from other packages, found by their entry points."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from gendalens.words import Message, Template

#: The environment variable that turns plug-ins off.
SWITCH = "GENDALENS_PLUGINS"
PLUGIN_FAILED = Template(
    "plugin_failed",
    "The plug-in {plugin} of the package {package} was left out ({reason}): update or uninstall the "
    "package.",
)


@dataclass(frozen=True, slots=True)
class Plugin:
    """The object of one entry point, with the package it comes from."""

    package: str
    name: str
    value: Any

    def reject(self, reason: Message | str) -> Message:
        """The message for the user on why the plug-in is not used."""
        return PLUGIN_FAILED(plugin=self.name, package=self.package, reason=reason)


def load_plugins(group: str) -> tuple[list[Plugin], list[Message]]:
    """The plug-ins of a group, and a message for each that fails to import."""
    plugins: list[Plugin] = []
    problems: list[Message] = []
    if os.environ.get(SWITCH) == "off":
        return plugins, problems
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        plugin = Plugin(entry.dist.name if entry.dist else entry.module, entry.name, None)
        try:
            plugins.append(Plugin(plugin.package, plugin.name, entry.load()))
        except Exception as error:  # importing a plug-in runs arbitrary code
            said = " ".join(str(error).split())[:200]
            problems.append(plugin.reject(f"{type(error).__name__}: {said}".rstrip(": .")))
    return plugins, problems
