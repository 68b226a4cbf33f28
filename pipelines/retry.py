"""Retries with a bound, said to nobody but the log.

Belongs here: how stamina reports. Does not belong here: what is tried again, and for how long. By default
stamina reports through structlog, which prints to standard output, among the rows of an answer.
"""

from __future__ import annotations

import logging

import stamina
from stamina.instrumentation import LoggingOnRetryHook, set_on_retry_hooks

set_on_retry_hooks([LoggingOnRetryHook])
# Without a handler Python prints a warning to standard error, and this one has no words in it.
logging.getLogger("stamina").addHandler(logging.NullHandler())

__all__ = ["stamina"]
