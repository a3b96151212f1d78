"""The exceptions of the package. Wrong values are ``ValueError``, wrong types ``TypeError``."""

__all__ = ["Error", "FileError", "UnknownName"]


class Error(Exception):
    """The base of all exceptions of this package."""

    __module__ = "backsweep"


class UnknownName(Error, KeyError):
    """An unknown state or action. Also a ``KeyError``."""

    __module__ = "backsweep"

    # KeyError shows the repr of its argument, which for a sentence means quotes.
    __str__ = Exception.__str__


class FileError(Error, ValueError):
    """A file, or bytes, that cannot be read as an agent. Also a ``ValueError``."""

    __module__ = "backsweep"
