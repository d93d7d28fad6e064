"""The gate's decisions as JUnit XML, which CI systems show test by test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gendalens.comparison.gate import Decision, Judgement
from gendalens.report.escape import one_line
from gendalens.words import write


def junit(judgements: Sequence[Judgement]) -> bytes:
    """A test case per model and test: a failure if it fails, an error if it is inconclusive.

    It is an error, not "skipped", because CI systems count skipped tests as passed.
    """
    counts = Counter(one.decision for one in judgements)
    totals = {
        "tests": str(len(judgements)),
        "failures": str(counts[Decision.FAILS]),
        "errors": str(counts[Decision.CANNOT_TELL]),
        "skipped": "0",
    }
    root = Element("testsuites", {"name": "gendalens gate", **totals})
    suite = SubElement(root, "testsuite", {"name": "gendalens gate", **totals})
    for one in judgements:
        # XML forbids some characters even if escaped; one_line replaces them.
        case = SubElement(
            suite, "testcase", {"classname": one_line(one.model, None), "name": one.test}
        )
        if one.decision is not Decision.PASSES:
            kind = "failure" if one.decision is Decision.FAILS else "error"
            message = one_line(write(one.why), None)
            found = SubElement(case, kind, {"message": message, "type": str(one.decision)})
            found.text = one_line(one.signature, None)
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
