"""The gate's findings as JUnit XML, which CI systems show test by test."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gendalens.comparison.gate import Judged, Outcome
from gendalens.report.escape import one_line


def junit(judged: Sequence[Judged]) -> bytes:
    """A test case per model and test: a failure where it fails, an error where nothing can be told.

    An error, not "skipped": CI systems count skipped tests as passed.
    """
    counts = {outcome: sum(one.outcome is outcome for one in judged) for outcome in Outcome}
    totals = {
        "tests": str(len(judged)),
        "failures": str(counts[Outcome.FAILS]),
        "errors": str(counts[Outcome.CANNOT_TELL]),
        "skipped": "0",
    }
    root = Element("testsuites", {"name": "gendalens gate", **totals})
    suite = SubElement(root, "testsuite", {"name": "gendalens gate", **totals})
    for one in judged:
        # Not every character may stand in XML, not even escaped: one_line leaves those that may.
        case = SubElement(
            suite, "testcase", {"classname": one_line(one.model, None), "name": one.test}
        )
        if one.outcome is not Outcome.PASSES:
            kind = "failure" if one.outcome is Outcome.FAILS else "error"
            found = SubElement(
                case, kind, {"message": one_line(one.why, None), "type": str(one.outcome)}
            )
            found.text = one_line(one.signature, None)
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
