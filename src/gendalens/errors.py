"""The one kind of error a user is meant to see."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.words import Message, Value, phrase, write

LONGEST = 1200  # characters of one sentence


class UserError(Exception):
    """A mistake or a limit on the user's side, in one sentence.

    The sentence names the thing, the reason and the next step; its values stand in braces, so that
    it can be put into the user's language: ``UserError("There is no file {path}.", path=path)``.
    The command line prints it and ends with exit code 2; from Python it is an ordinary exception.
    Names and files are quoted in it, so it is made safe to print here, once for all of them.
    """

    def __init__(self, sentence: str | Message, /, **values: Value) -> None:
        self.message = sentence if isinstance(sentence, Message) else phrase(sentence, **values)
        super().__init__(printable(str(self.message)))

    def __str__(self) -> str:
        return printable(write(self.message))


class FailuresError(UserError):
    """Everything that failed in one run, a sentence each."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences = " ".join(map(printable, sentences))
        super().__init__("{failures}", failures=self._sentences)

    def __str__(self) -> str:
        return self._sentences


def printable(sentence: str) -> str:
    r"""A sentence on one line that no terminal takes for a command, and of bearable length.

    >>> printable("The model \x1b[2J\n does not exist.")
    'The model \\x1b[2J\\n does not exist.'
    """
    if not sentence.isprintable():
        sentence = "".join(
            sign if sign.isprintable() else sign.encode("unicode_escape").decode()
            for sign in sentence
        )
    if len(sentence) > LONGEST:  # what to do next stands at the end
        sentence = f"{sentence[: LONGEST // 2]} … {sentence[-LONGEST // 2 :]}"
    return sentence
