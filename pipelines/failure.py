"""The errors that a person can act on.

Belongs here: their common base, so that the command line can tell them from defects without importing
what raises them. Does not belong here: any particular error; each lives beside the code that raises it.
"""

from __future__ import annotations


class Failure(Exception):
    """Something went wrong that has a name; the text says what, where, and what to do."""
