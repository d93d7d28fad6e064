"""The worker process of `library`: reads a job and writes the results as JSON."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import vl_convert

SCALE = 2  # PNG pixels per pixel of the chart


def draw_picture(spec: dict[str, Any], kind: str, numbers: Any) -> bytes:
    """The file content of one chart."""
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=SCALE, format_locale=numbers))
    if kind == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, format_locale=numbers))
    return str(vl_convert.vegalite_to_svg(spec, format_locale=numbers)).encode()


def main() -> None:
    """Make a bundle of scripts for a page, or pictures, encoded in base64."""
    job = json.load(sys.stdin)
    if "snippet" in job:
        results = [str(vl_convert.javascript_bundle(job["snippet"]))]
    else:
        pictures = (draw_picture(spec, job["kind"], job["numbers"]) for spec in job["specs"])
        results = [base64.b64encode(one).decode() for one in pictures]
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
