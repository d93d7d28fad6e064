"""The one kind of error a user is meant to see."""

LONGEST = 1200  # characters of one sentence


class UserError(Exception):
    """A mistake or a limit on the user's side, in one sentence, or one for each thing that failed.

    The sentence names the thing, the reason and the next step.
    The command line prints it and ends with exit code 2; from Python it is an ordinary exception.
    Names and files are quoted in it, so it is made safe to print here, once for all of them.
    """

    def __init__(self, *sentences: str) -> None:
        super().__init__(" ".join(map(printable, sentences)))


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
