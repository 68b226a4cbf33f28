"""Where state lives: one folder, the same whatever the working directory.

Belongs here: paths. Does not belong here: anything that opens what lies at them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pipelines.failure import Failure

PROJECT = Path(__file__).resolve().parents[1]
SQL = PROJECT / "sql"
SEEDS = PROJECT / "seeds"


@dataclass(frozen=True)
class Home:
    """The state directory: `TOKENYIELD_HOME`, by default `var/` of the project."""

    root: Path

    @classmethod
    def from_environment(cls) -> Home:
        """The home that the environment names; relative paths are from the working directory.

        Raises Failure when it names a file.
        """
        root = Path(os.environ.get("TOKENYIELD_HOME") or PROJECT / "var").expanduser().resolve()
        if root.exists() and not root.is_dir():
            raise Failure(f"TOKENYIELD_HOME={root} is a file; it wants a folder, which may be new")
        return cls(root)

    @property
    def snapshots(self) -> Path:
        """Payloads as received. The only folder that cannot be rebuilt: back it up."""
        return self.root / "snapshots"

    @property
    def warehouse(self) -> Path:
        """The writer's database; private to the run."""
        return self.root / "warehouse.duckdb"

    @property
    def published(self) -> Path:
        """What readers open: one folder a version, and `current`."""
        return self.root / "published"

    @property
    def current_database(self) -> Path:
        """The published database of the current version."""
        return self.published / "current" / "tokenyield.duckdb"

    @property
    def told_alerts(self) -> Path:
        """Which alerts were told already, so that each is told once."""
        return self.root / "alerts" / "told.json"

    @property
    def dagster(self) -> Path:
        """Run history and settings of Dagster."""
        return self.root / "dagster"
