"""The gate's decisions as JUnit XML, which CI systems show test by test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gendalens.comparison.gate import Decision, Judgement
from gendalens.report.escape import one_line
from gendalens.words import write


def junit(judgements: Sequence[Judgement]) -> bytes:
    """A test case per model, test and part: a failure if it fails, an error if it is inconclusive.

    It is an error, not "skipped", because CI systems count skipped tests as passed.
    """
    counts = Counter(part.decision for one in judgements for part in one.parts)
    totals = {
        "tests": str(counts.total()),
        "failures": str(counts[Decision.FAILS]),
        "errors": str(counts[Decision.CANNOT_TELL]),
        "skipped": "0",
    }
    root = Element("testsuites", {"name": "gendalens gate", **totals})
    suite = SubElement(root, "testsuite", {"name": "gendalens gate", **totals})
    for one in judgements:
        for part in one.parts:
            # XML forbids some characters even if escaped; one_line replaces them.
            names = {"classname": one_line(one.model, None), "name": f"{one.test} {part.part}"}
            case = SubElement(suite, "testcase", names)
            if part.decision is not Decision.PASSES:
                kind = "failure" if part.decision is Decision.FAILS else "error"
                message = one_line(write(part.why), None)
                found = SubElement(case, kind, {"message": message, "type": str(part.decision)})
                found.text = one_line(one.signature, None)
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
