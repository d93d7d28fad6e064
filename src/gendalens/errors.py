"""Errors that are shown to the user."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.words import Message, Value, phrase, write

LONGEST = 1200  # characters in a sentence


class UserError(Exception):
    """A user's mistake, or a limit that the user can do something about, in one sentence.

    The sentence names the thing, the reason and the next step. Its values are placeholders, so that
    it can be translated: ``UserError("There is no file {path}.", path=path)``. The command line prints
    it and exits with code 2; in Python it is an ordinary exception. It may quote untrusted names and
    paths, so it is made safe to print here, in one place.
    """

    def __init__(self, sentence: str | Message, /, **values: Value) -> None:
        self.message = sentence if isinstance(sentence, Message) else phrase(sentence, **values)
        super().__init__(printable(str(self.message)))

    def __str__(self) -> str:
        return printable(write(self.message))


class FailuresError(UserError):
    """All failures of one run, a sentence each."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences = " ".join(map(printable, sentences))
        super().__init__("{failures}", failures=self._sentences)

    def __str__(self) -> str:
        return self._sentences


def printable(sentence: str) -> str:
    r"""A sentence on one line, without control characters, and shortened if too long.

    >>> printable("The model \x1b[2J\n does not exist.")
    'The model \\x1b[2J\\n does not exist.'
    """
    if not sentence.isprintable():
        sentence = "".join(
            sign if sign.isprintable() else sign.encode("unicode_escape").decode()
            for sign in sentence
        )
    if len(sentence) > LONGEST:  # cut in the middle: the next step is at the end
        sentence = f"{sentence[: LONGEST // 2]} … {sentence[-LONGEST // 2 :]}"
    return sentence
