"""What all backends around objects of the user's have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar, TypeVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.library_errors import describe_error, is_out_of_memory
from gendalens.models.module_state import ModuleState
from gendalens.models.word_spans import split_words
from gendalens.results.model_info import ModelInfo
from gendalens.words import N_, Message

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class SizedRequest:
    """A request with its number of words, by which batches are planned."""

    request: Any
    length: int
    rows: int = 1
    positions: int = 1


class ObjectBackend(Backend):
    """A backend around an object; ``module`` is the torch module in it, if it is one."""

    #: What the object is, in words: "a spaCy pipeline".
    interface: ClassVar[str]
    #: What to do when a call of the object fails.
    advice: ClassVar[str] = N_("check that it works on its own")
    hub_task: str = ""

    def __init__(self, system: Any, name: str, module: Any = None) -> None:
        self.system = system
        self.name = name
        self._module = module
        self._state: ModuleState | None = None

    @property
    def kind(self) -> Message:
        """The kind of model in words."""
        raise NotImplementedError

    @property
    def digest(self) -> str | None:
        """What identifies the object's content; None if nothing does, and then nothing is cached."""
        return None

    @property
    def revision(self) -> str:
        """The version in results."""
        return "object"

    @property
    def info(self) -> ModelInfo:
        """What a result says about the object."""
        return ModelInfo(
            name=self.name,
            kind=self.kind,
            revision=self.revision,
            dtype="none",
            software=find_package(self.system),
            hub_task=self.hub_task,
        )

    @property
    def cacheable(self) -> bool:
        """Whether a digest identifies the object."""
        return self.digest is not None

    def fingerprint(self) -> str:
        """The digest; else the object's id in this process, because its answers are not cached."""
        return self.digest or f"object:{id(self.system)}"

    def encode(self, requests: Sequence[Any]) -> list[SizedRequest]:
        """The requests with their number of words."""
        return [SizedRequest(one, len(split_words(one.text))) for one in requests]

    def close(self) -> None:
        """Leave a torch module as it was before it ran."""
        if self._state is not None:
            self._state.restore()
            self._state = None

    def call(
        self,
        function: Callable[[Sequence[Asked]], Iterable[Any]],
        asked: Sequence[Asked],
        read: Callable[[Any], Any] = lambda answer: answer,
    ) -> list[Any]:
        """One answer for each thing asked, each put through ``read``; failures name the object."""
        if self._module is not None and self._state is None:
            self._state = ModuleState(self._module)
            self._module.eval()
        try:
            found = [read(answer) for answer in function(asked)]
        except (MemoryError, UserError):
            raise
        except Exception as error:
            # The engine retries with smaller batches when memory runs out.
            if isinstance(error, RuntimeError) and is_out_of_memory(error):
                raise
            raise UserError(
                "{name} ({interface:t}) fails on a text such as “{text}” ({kind}: {reason}): {advice:t}.",
                name=self.name,
                interface=self.interface,
                text=_excerpt(asked[0]),
                kind=type(error).__name__,
                reason=describe_error(error),
                advice=self.advice,
            ) from error
        if len(found) != len(asked):
            raise UserError(
                "{name} gives {answers} answers to {texts} texts: it must give one for each.",
                name=self.name,
                answers=len(found),
                texts=len(asked),
            )
        return found


def find_package(system: Any) -> tuple[str, ...]:
    """The installed package that an object comes from, with its version; nothing if there is none."""
    package = str(getattr(system, "__module__", "") or "").partition(".")[0]
    try:
        return (f"{package} {metadata.version(package)}",)
    except (metadata.PackageNotFoundError, ValueError):
        return ()


def _excerpt(asked: Any) -> str:
    text = str(getattr(asked, "text", asked))
    return text if len(text) <= 60 else f"{text[:59]}…"
