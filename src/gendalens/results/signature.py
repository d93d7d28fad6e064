"""The signature of a result: everything needed to reproduce its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from gendalens.results.model_info import ModelInfo
from gendalens.version import __version__


def make_signature(
    test: str,
    model: ModelInfo,
    data: Mapping[str, str],
    *,
    seed: int,
    sample: int | None,
    family: Sequence[str],
    settings: Mapping[str, str],
) -> str:
    """One line in the style of sacreBLEU: ``name:value`` fields separated by ``|``.

    ``family`` are the tests of this model in this run, for which p-values are corrected.
    """
    sets = "+".join(f"{name}@{checksum}" for name, checksum in data.items())
    fields = [
        test,
        f"data:{sets}",
        f"model:{model.name.replace('|', '_')}@{model.revision}",
        f"dtype:{model.dtype}",
        f"seed:{seed}",
        f"sample:{'all' if sample is None else sample}",
        *(f"{name}:{value}" for name, value in settings.items()),
        f"tests:{'+'.join(family)}",
        f"gendalens:{__version__}",
        f"numpy:{version('numpy')}",
        *(item.replace(" ", ":", 1) for item in model.software),
    ]
    return "|".join(fields)


def parse_signature(text: str) -> dict[str, str]:
    """The fields of a signature by name; the first, without a name, is ``test``.

    >>> parse_signature("lm-abc@2|seed:0|sample:all")
    {'test': 'lm-abc@2', 'seed': '0', 'sample': 'all'}
    """
    test, *rest = text.split("|")
    named = (field.partition(":") for field in rest)
    return {"test": test, **{name: value for name, _, value in named}}
