"""The one exception that says: what you gave cannot be used, and here is what to do."""


class InputError(ValueError):
    """Bad input, told in one sentence: what is wrong, where, and what to do.

    The command line prints the sentence and leaves with exit code 2; in Python it is a ``ValueError``.
    """
