"""A hook of mkdocs: the style and the scripts that the reports of the gallery share.

They are made with the site, so that the repository holds neither copies of them nor the chart library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what the reports load."""
    from mkdocs.structure.files import File

    from gendalens.report.html.page import make_assets

    for name, text in make_assets().items():
        files.append(File.generated(config, f"gallery/assets/{name}", content=text))
    return files
