"""The signature beside every number: what it takes to get the same number again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from gendalens.results.model_info import ModelInfo
from gendalens.version import __version__


def signature(
    test: str,
    model: ModelInfo,
    data: Mapping[str, str],
    *,
    seed: int,
    sample: int | None,
    family: Sequence[str],
    settings: Mapping[str, str],
) -> str:
    """One line, in the manner of sacreBLEU: fields divided by ``|``, each ``name:value``.

    ``family`` are the tests of this run on this model: they decide the correction for many tests.
    """
    sets = "+".join(f"{name}@{checksum}" for name, checksum in data.items())
    parts = [
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
    return "|".join(parts)


def parts(text: str) -> dict[str, str]:
    """A signature's fields by name; the test is called ``test``.

    >>> parts("lm-abc@2|seed:0|sample:all")
    {'test': 'lm-abc@2', 'seed': '0', 'sample': 'all'}
    """
    test, *rest = text.split("|")
    named = (field.partition(":") for field in rest)
    return {"test": test, **{name: value for name, _, value in named}}
