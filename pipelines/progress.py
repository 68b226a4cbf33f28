"""What a run says on the terminal while it works: the lines of our own assets, and whatever goes wrong.

Belongs here: the console logger of Dagster. Everything else that Dagster has to say is in its event log.
"""

from __future__ import annotations

import logging
import sys

import dagster as dg


class _OwnLines(logging.Filter):
    """Keep what an asset said itself, in its own words; drop the engine's account of its steps."""

    def filter(self, record: logging.LogRecord) -> bool:
        meta = getattr(record, "dagster_meta", {})
        record.msg, record.args = meta.get("orig_message") or record.msg, ()
        return meta.get("dagster_event") is None


@dg.logger(description="Own lines and warnings, to standard error.")
def console(init_context: dg.InitLoggerContext) -> logging.Logger:
    """A logger without history: each run makes its own."""
    logger = logging.Logger("tokenyield", level=logging.INFO)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    handler.addFilter(_OwnLines())
    logger.addHandler(handler)
    return logger
