"""The classic interface: code written for GenDa Lens 0.0.3 runs after changing one import.

>>> from gendalens.compat import Evaluator, Visualizer  # was: from genda_lens import …
>>> simple, detailed = Evaluator("my-model").evaluate_ner(n=20)  # doctest: +SKIP

The calls, the two data frames and the plots are the same; the figures are those of protocol 1. For new
work, use :func:`gendalens.run`, whose figures come with their uncertainty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gendalens
from gendalens.errors import UserError

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from gendalens.results.result import Result

TESTS = ("abc", "dawinobias")


class ClassicError(UserError, ValueError):
    """A mistake in a classic call; also a ``ValueError``, which 0.0.3 raises."""


class Evaluator:
    """Runs the classic tests on a model, given by name. ``data`` replaces data sets, as in ``run``."""

    def __init__(self, model_name: str, *, data: Mapping[str, str | Path] | None = None) -> None:
        self.model_name = model_name
        self.data = data
        _say(f"{model_name}: call evaluate_pretrained, evaluate_ner or evaluate_coref to test it.")

    def evaluate_pretrained(
        self,
        test: str,
        mask_token: str | None = None,
        start_token: str | None = None,
        sep_token: str | None = None,
    ) -> list[pd.DataFrame]:
        """The simple and the detailed table of ``abc`` or ``dawinobias`` for a masked language model.

        As in 0.0.3, ``dawinobias`` needs the mask token, and ``abc`` the start and the separator
        token. They must be those of the tokenizer.
        """
        _check(test)
        wanted = {"mask_token": mask_token} if test == "dawinobias" else {}
        if test == "abc":
            wanted = {"start_token": start_token, "sep_token": sep_token}
        for name, token in wanted.items():
            if token is None:
                raise ClassicError(
                    "The test {test} needs {name}; name the model's, a string.",
                    test=repr(test),
                    name=name,
                )
        model = gendalens.load_model(self.model_name)
        tokenizer = getattr(model, "tokenizer", None)
        own = {"mask_token": "mask_token", "start_token": "cls_token", "sep_token": "sep_token"}
        for name, token in wanted.items():
            known = getattr(tokenizer, own[name], None)
            if tokenizer is not None and token != known:
                raise ClassicError(
                    "{name} is {token} and the tokenizer of {model} has {known}; name the tokenizer's.",
                    name=name,
                    token=repr(token),
                    model=self.model_name,
                    known=repr(known),
                )
        return self._frames(model, f"lm-{test}")

    def evaluate_ner(self, n: int) -> list[pd.DataFrame]:
        """The simple and the detailed table of the test on DaNE with ``n`` draws of names."""
        if n == 1:
            _say("one draw of names has no spread; 20 or more are steadier.")
        return self._frames(self.model_name, "ner-dane", repeats=n)

    def evaluate_coref(self, test: str, model: Any) -> list[pd.DataFrame]:
        """The simple and the detailed table of ``abc`` or ``dawinobias`` for a coreference system.

        ``model`` is the loaded system itself: danlp's, fastcoref's, a spaCy or Stanza pipeline, or a
        function in ``gendalens.Resolver`` (docs/objects.md).
        """
        _check(test)
        if isinstance(model, str | Path):
            raise ClassicError(
                "{model} is a name, and coreference systems are not loaded by name: load it yourself, "
                "for instance with danlp's load_xlmr_coref_model(), and pass the object as model=.",
                model=repr(str(model)),
            )
        return self._frames(model, f"coref-{test}")

    def _frames(self, model: Any, task: str, **options: Any) -> list[pd.DataFrame]:
        _say(f"{task} on {self.model_name}, as GenDa Lens 0.0.3 computes it (protocol 1).")
        (result,) = gendalens.run(model, tasks=[task], protocol=1, data=self.data, **options)
        if result.problem:
            _say(f"not measurable: {result.problem}.")
        # The tables show the name given by the user, even if the model is an object.
        result = replace(result, model=replace(result.model, name=self.model_name))
        return [simple(result), detailed(result)]


def simple(result: Result) -> pd.DataFrame:
    """The classic short table of a result: the effect and the main conditions."""
    from gendalens.report.exports import classic_tables

    return classic_tables.simple(result)


def detailed(result: Result) -> pd.DataFrame:
    """The classic long table of a result: the effect, the main conditions and the nuance."""
    from gendalens.report.exports import classic_tables

    return classic_tables.detailed(result)


class Visualizer:
    """The classic interaction plot of a detailed table."""

    def visualize_results(
        self, data: pd.DataFrame, framework: str, model_name: str, task: str | None = None
    ) -> ModuleType:
        """Draw the plot and return ``matplotlib.pyplot``, as 0.0.3 does; needs matplotlib.

        ``data`` is the detailed table, from ``Evaluator`` or read back from CSV; ``framework`` is
        ``ner``, ``abc`` or ``dawinobias``, the latter two with ``task`` set to ``lm`` or ``coref``.
        """
        from gendalens.report.exports.classic_pyplot import draw_with_pyplot

        return draw_with_pyplot(data, framework, model_name, task)

    def chart_results(
        self, data: pd.DataFrame, framework: str, model_name: str, task: str | None = None
    ) -> alt.LayerChart:
        """The same plot as an Altair chart, for notebooks or ``.save("plot.png")``."""
        from gendalens.report.exports.classic_plot import classic_plot

        return classic_plot(data, framework, model_name, task)


def _check(test: str) -> None:
    if test not in TESTS:
        raise ClassicError(
            "There is no test {test}; choose {tests:or}.",
            test=repr(test),
            tests=tuple(map(repr, TESTS)),
        )


def _say(text: str) -> None:
    print(f"[INFO] {text}")
