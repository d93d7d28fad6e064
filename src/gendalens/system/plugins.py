"""Tests and models that other packages bring, found by their entry points."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from gendalens.words import Message, Template

PLUGIN_FAILED = Template(
    "plugin_failed",
    "The plug-in {plugin} of the package {package} was left out ({reason}): update or uninstall the "
    "package.",
)


@dataclass(frozen=True, slots=True)
class Plugin:
    """What one entry point gave, with the package it comes from."""

    package: str
    name: str
    value: Any

    def reject(self, reason: Message | str) -> Message:
        """The sentence for the user on why the plug-in is not used."""
        return PLUGIN_FAILED(plugin=self.name, package=self.package, reason=reason)


def load_plugins(group: str) -> tuple[list[Plugin], list[Message]]:
    """The plug-ins of a group, and a sentence for each that fails to import; the others work."""
    plugins: list[Plugin] = []
    problems: list[Message] = []
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        plugin = Plugin(entry.dist.name if entry.dist else entry.module, entry.name, None)
        try:
            plugins.append(Plugin(plugin.package, plugin.name, entry.load()))
        except Exception as error:  # whatever a stranger's module does while it is imported
            said = " ".join(str(error).split())[:200]
            problems.append(plugin.reject(f"{type(error).__name__}: {said}".rstrip(": .")))
    return plugins, problems
