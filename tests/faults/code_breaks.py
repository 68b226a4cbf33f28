"""Guards of the code, each with the change that breaks it and the test that must go red then.

Belongs here: the list alone. `make reliability` makes each change in a copy of the project and runs its test;
`test_documents.py` sees that each place still stands in the code once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    """`code` stands once in `file`; with `instead` in its place, `test` fails. `guard`: what it is for."""

    guard: str
    file: str
    code: str
    instead: str
    test: str


BREAKS: tuple[Break, ...] = (
    Break(
        "a changed byte of the warehouse is noticed",
        "pipelines/seal.py",
        "if found.sha256 in (one.sha256 for one in accepted):",
        "if found.bytes in (one.bytes for one in accepted):",
        "tests/faults/test_warehouse_damage.py::test_every_flipped_byte_is_noticed",
    ),
    Break(
        "a log beside the warehouse is not read in",
        "pipelines/seal.py",
        'if path.with_name(f"{path.name}.wal").exists():',
        "if False:",
        "tests/faults/test_warehouse_damage.py::test_a_damaged_warehouse_is_set_aside_and_made_anew",
    ),
    Break(
        "a run writes into a copy, never into the warehouse",
        "pipelines/warehouse.py",
        'return self.path.with_name(f"{self.path.name}.unfinished")',
        "return self.path",
        "tests/faults/test_warehouse_damage.py::test_a_log_left_by_a_killed_run_is_no_danger_wherever_it_is_damaged",
    ),
    Break(
        "both states are good while one takes the other's place",
        "pipelines/warehouse.py",
        "[*(seal.read(self.path) or ())[-1:], made]",
        "[made]",
        "tests/faults/test_warehouse_damage.py"
        "::test_a_run_killed_while_its_file_takes_its_place_looks_like_no_damage",
    ),
    Break(
        "a published file is put on the disk before it is closed",
        "pipelines/warehouse.py",
        """            connection.execute("checkpoint published")
        self._read_back(target, rows)
""",
        "",
        "tests/faults/test_disk_full.py::test_no_room_leaves_everything_as_it_was",
    ),
    Break(
        "no run is begun without room for it",
        "pipelines/limits.py",
        "if free < wanted:",
        "if free < 0:",
        "tests/faults/test_disk_full.py::test_a_run_is_not_begun_without_room_for_it",
    ),
    Break(
        "what a living connection spills is not swept away",
        "pipelines/spill.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        "tests/faults/test_disk_full.py"
        "::test_what_a_killed_run_spilled_is_swept_away_and_what_a_living_one_spills_is_not",
    ),
    Break(
        "one publish at a time",
        "pipelines/publish.py",
        'lock.held(root.with_name(f"{root.name}.lock"), root, warehouse.wait_seconds),',
        "",
        "tests/faults/test_publish_together.py::test_what_another_publish_is_writing_is_not_swept_away",
    ),
    Break(
        "a rebuild takes nothing over from the warehouse that is there",
        "pipelines/run.py",
        "write(anew=True)",
        "write(mends=True)",
        "tests/faults/test_warehouse_rebuilt.py::test_a_rebuild_makes_the_same_from_the_snapshots_alone",
    ),
)
