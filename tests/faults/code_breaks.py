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
        "a sidecar that names a file outside of its folder is not believed",
        "pipelines/sidecar.py",
        'and part.get("file") == part_file(number)',
        'and isinstance(part.get("file"), str)',
        "tests/faults/test_snapshots_damaged.py::test_a_damaged_payload_is_named_and_all_others_stand",
    ),
    Break(
        "a damaged record is not written anew as another",
        "pipelines/run.py",
        "for found in chain(*store.survey(recording.SLUG))",
        "for found in store.sidecars(recording.SLUG)",
        "tests/faults/test_snapshots_damaged.py::"
        "test_the_tables_of_health_and_the_record_show_what_is_damaged",
    ),
    Break(
        "what a process writes that lives is not swept away",
        "pipelines/snapshots.py",
        "if process.isdigit() and not _lives(int(process)):",
        "if process.isdigit():",
        "tests/faults/test_fetch_killed.py::test_a_fetch_leaves_alone_what_another_is_writing",
    ),
    Break(
        "a payload is compared with what came before it, and not with what a fast clock left",
        "pipelines/snapshots.py",
        "(s for s in found if s.observed_at <= up_to)",
        "(s for s in found)",
        "tests/faults/test_snapshots_clock.py::test_a_payload_of_a_clock_that_went_back_is_kept_and_told",
    ),
    Break(
        "a list that falls below half of its usual size is not believed",
        "seeds/method_parameter.csv",
        "price,v1,min_accepted_share_of_usual,0.5,",
        "price,v1,min_accepted_share_of_usual,0,",
        "tests/faults/test_watching_sources.py::"
        "test_a_list_that_falls_below_half_of_its_size_is_not_believed",
    ),
    Break(
        "an old as_of is told even where the copy is new",
        "pipelines/watch.py",
        '_judged("the published copy is as of", as_of, limit, now)',
        "None",
        "tests/faults/test_watching_age.py::test_age_is_told_with_its_moment",
    ),
)
