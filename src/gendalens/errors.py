"""The one kind of error a user is meant to see."""


class UserError(Exception):
    """A mistake or a limit on the user's side, in one sentence.

    The sentence names the thing, the reason and the next step.
    The command line prints it and ends with exit code 2; from Python it is an ordinary exception.
    """
