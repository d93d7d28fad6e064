"""Hooks of mkdocs: links out of docs/ work on the site as they do in the repository.

A page may link to any file of the repository, such as ``../CHANGELOG.md`` or ``../examples/gate.yml``.
Such files become part of the site under ``repository/``, Markdown as pages, and the links follow.
A folder has no page, so a link to one is shown as plain text. The pages in Danish say that they are.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = "docs"
PREFIX = "repository"
LINK = re.compile(r"(?P<bang>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
HIDDEN = re.compile(r"(?:(?<=^)|(?<=/))\.(?=[^./])")
FENCE = re.compile(r"^(?P<fence>```|~~~).*?^(?P=fence)", re.DOTALL | re.MULTILINE)


def find_place(uri: str) -> str:
    """Where in the repository the source of a page lies."""
    if uri.startswith(f"{PREFIX}/"):
        return uri.removeprefix(f"{PREFIX}/")
    return f"{DOCS}/{uri}"


def find_uri(place: str) -> str:
    """The page or file of the site for a file of the repository."""
    if place.startswith(f"{DOCS}/"):
        return place.removeprefix(f"{DOCS}/")
    # mkdocs leaves out what begins with a dot.
    return f"{PREFIX}/{HIDDEN.sub('', place)}"


def resolve(target: str, uri: str) -> str | None:
    """The file of the repository that a link of a page leads to; None if it leads elsewhere."""
    path = target.partition("#")[0]
    if not path or "://" in path or path.startswith(("mailto:", "/")):
        return None
    place = posixpath.normpath(posixpath.join(posixpath.dirname(find_place(uri)), path))
    return place if not place.startswith("..") and (ROOT / place).exists() else None


def rewrite(markdown: str, uri: str) -> str:
    """The text of a page with its links as the site needs them."""

    def follow(link: re.Match[str]) -> str:
        place = resolve(link["target"], uri)
        if place is None:
            return link[0]
        if (ROOT / place).is_dir():
            return link["text"]
        anchor = "".join(link["target"].partition("#")[1:])
        target = posixpath.relpath(find_uri(place), posixpath.dirname(uri) or ".")
        return f"{link['bang']}[{link['text']}]({target}{anchor})"

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):  # code is no text
        parts += [LINK.sub(follow, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(follow, markdown[end:])])


def find_linked(uris: list[str]) -> set[str]:
    """The files outside docs/ that these pages, and the pages that they lead to, link to."""
    found: set[str] = set()
    waiting = [uri for uri in uris if uri.endswith(".md")]
    while waiting:
        uri = waiting.pop()
        text = FENCE.sub("", (ROOT / find_place(uri)).read_text(encoding="utf-8"))
        for link in LINK.finditer(text):
            place = resolve(link["target"], uri)
            if place is None or place.startswith(f"{DOCS}/") or (ROOT / place).is_dir():
                continue
            if place not in found:
                found.add(place)
                if place.endswith(".md"):
                    waiting.append(find_uri(place))
    return found


def list_pages(nav: object) -> list[str]:
    """The pages that the navigation names."""
    match nav:
        case str():
            return [nav]
        case list():
            return [uri for one in nav for uri in list_pages(one)]
        case dict():
            return [uri for one in nav.values() for uri in list_pages(one)]
    return []


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what the pages link to, and the pages outside docs/ that the navigation names."""
    from mkdocs.structure.files import File

    named = [uri for uri in list_pages(config.nav) if uri.startswith(f"{PREFIX}/")]
    pages = [file.src_uri for file in files.documentation_pages()] + named
    for place in sorted(find_linked(pages) | {find_place(uri) for uri in named}):
        path = str(ROOT / place)
        files.append(File.generated(config, find_uri(place), abs_src_path=path))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have the links of a page follow the files."""
    return rewrite(markdown, page.file.src_uri)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Say of a Danish page that its text is Danish, for those who have it read aloud."""
    if not page.file.src_uri.startswith("da/"):
        return output
    return output.replace("<article ", '<article lang="da" ', 1)
