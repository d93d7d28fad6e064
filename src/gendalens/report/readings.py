"""A finding in plain words: what the model does, in one sentence of either language."""

from __future__ import annotations

from gendalens.report.words import Both, said, word
from gendalens.results.result import Result
from gendalens.tasks import get_task

#: By test: what a positive and what a negative gap mean, and what is alike where there is none.
READINGS: dict[str, tuple[tuple[str, str], tuple[str, str], tuple[str, str]]] = {
    "lm-dawinobias": (
        (
            "The model picks the right pronoun more often when it fits the occupation’s stereotype.",
            "Modellen vælger oftere det rigtige pronomen, når det passer til stereotypen for erhvervet.",
        ),
        (
            "The model picks the right pronoun more often when it goes against the stereotype.",
            "Modellen vælger oftere det rigtige pronomen, når det går imod stereotypen.",
        ),
        (
            "The model picks the right pronoun about as often with the stereotype as against it.",
            "Modellen vælger det rigtige pronomen omtrent lige så ofte imod stereotypen som med den.",
        ),
    ),
    "lm-abc": (
        (
            "The model is less surprised by “hans” than by “hendes” in the same sentence.",
            "Modellen er mindre overrasket over »hans« end over »hendes« i samme sætning.",
        ),
        (
            "The model is less surprised by “hendes” than by “hans” in the same sentence.",
            "Modellen er mindre overrasket over »hendes« end over »hans« i samme sætning.",
        ),
        (
            "The model is about as surprised by “hans” as by “hendes” in the same sentence.",
            "Modellen er omtrent lige overrasket over »hans« og »hendes« i samme sætning.",
        ),
    ),
    "coref-dawinobias": (
        (
            "The system finds who is meant more often when the stereotype helps.",
            "Systemet finder oftere den rigtige person, når stereotypen hjælper.",
        ),
        (
            "The system finds who is meant more often when the stereotype misleads.",
            "Systemet finder oftere den rigtige person, når stereotypen vildleder.",
        ),
        (
            "The system finds who is meant about as often with the stereotype as against it.",
            "Systemet finder den rigtige person omtrent lige så ofte imod stereotypen som med den.",
        ),
    ),
    "coref-abc": (
        (
            "Against the grammar, the system takes “hans” for the subject’s more readily than “hendes”.",
            "I strid med grammatikken opfatter systemet oftere »hans« end »hendes« som subjektets.",
        ),
        (
            "Against the grammar, the system takes “hendes” for the subject’s more readily than “hans”.",
            "I strid med grammatikken opfatter systemet oftere »hendes« end »hans« som subjektets.",
        ),
        (
            "The system takes “hans” and “hendes” for the subject’s about equally often.",
            "Systemet opfatter »hans« og »hendes« som subjektets omtrent lige ofte.",
        ),
    ),
    "ner-dane": (
        (
            "The model finds men’s names better than women’s.",
            "Modellen genkender mandenavne bedre end kvindenavne.",
        ),
        (
            "The model finds women’s names better than men’s.",
            "Modellen genkender kvindenavne bedre end mandenavne.",
        ),
        (
            "The model finds women’s and men’s names about equally well.",
            "Modellen genkender kvinde- og mandenavne omtrent lige godt.",
        ),
    ),
}


def finding(result: Result) -> Both:
    """What the verdict means for this test."""
    if result.problem or result.verdict.startswith("not measurable"):
        return _sentence(said(result.problem or result.verdict_reason or result.verdict))
    readings = READINGS.get(result.task)
    if result.verdict.startswith("too little"):
        return word("too_little")
    if result.verdict.startswith("not judged"):
        return _sentence(said(result.verdict_reason or result.verdict))
    if readings is None:  # a test of the user's own
        return said(get_task(result.task, result.protocol).card.reading)
    if result.verdict.startswith("no difference"):
        return Both(*readings[2])
    return Both(*readings[0 if (result.gap.value or 0) > 0 else 1])


def _sentence(text: Both) -> Both:
    def whole(part: str) -> str:
        return part[:1].upper() + part[1:] + ("" if part.endswith((".", "!", "?")) else ".")

    return Both(whole(text.en), None if text.da is None else whole(text.da))
