"""Guards of the code, each with the change that breaks it and the test that must go red then.

Belongs here: the list alone. `make reliability` makes each change in a copy of the project and runs its test;
`test_reliability.py` sees that each place still stands in the code once.
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


MIDNIGHT = "tests/faults/test_days_at_midnight.py::"
KILLED = "tests/faults/test_killed.py::test_a_run_that_is_killed_leaves_a_whole_copy"

BREAKS: tuple[Break, ...] = (
    Break(
        "a record is never older than its facts",
        "pipelines/run.py",
        "if as_of > now:",
        "if False:",
        f"{MIDNIGHT}test_a_day_without_a_finished_build_is_not_recorded_and_says_why",
    ),
    Break(
        "a day without a finished build is not recorded, and says so",
        "pipelines/run.py",
        "if built is None:",
        "if False:",
        f"{MIDNIGHT}test_a_day_without_a_finished_build_is_not_recorded_and_says_why",
    ),
    Break(
        "a record is of its own UTC day",
        "pipelines/run.py",
        "if as_of.date() != now.date():",
        "if False:",
        f"{MIDNIGHT}test_midnight_a_leap_day_and_four_zones_make_one_record_a_utc_day",
    ),
    Break(
        "a payload of a clock that was ahead is told",
        "pipelines/assets/raw.py",
        "and found.sidecar.recorded_at > now",
        "and False",
        f"{MIDNIGHT}test_a_payload_of_a_clock_that_was_ahead_is_told_and_counts_no_sooner",
    ),
    Break(
        "what a living process is storing is left alone",
        "pipelines/leftovers.py",
        "if number.isdigit() and not lives(int(number)):",
        "if number.isdigit():",
        f"{MIDNIGHT}test_what_a_killed_process_left_half_stored_is_removed_and_nothing_else",
    ),
    Break(
        "the pointer to the published copy moves by a rename",
        "pipelines/publish.py",
        "    _point(root, version)\n",
        "    (root / 'current').unlink(missing_ok=True)\n    _point(root, version)\n",
        f"{KILLED}[publishing]",
    ),
    Break(
        "a carried vote does not count towards the minimum",
        "sql/core/rental_index_level.sql",
        "count(case when status = 'counted' then 1 end) as provider_count",
        "count(case when status in ('counted', 'carried') then 1 end) as provider_count",
        "tests/faults/test_days_with_failures.py",
    ),
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
        "tests/faults/test_watching_status.py::test_age_is_told_with_its_moment",
    ),
    Break(
        "an answer that repeats the key is refused",
        "pipelines/http.py",
        "if repeats_a_key(body):",
        "if False:",
        "tests/strangers/test_security_keys.py::test_an_answer_that_repeats_the_key_is_refused_and_no_message_says_it",
    ),
    Break(
        "no message and no stored address holds a key",
        "pipelines/source.py",
        'text = text.replace(key, "***")',
        "pass",
        "tests/strangers/test_security_keys.py::test_an_answer_that_repeats_the_key_is_refused_and_no_message_says_it",
    ),
    Break(
        "a damaged zip is refused whatever the reader stumbles over",
        "pipelines/decode.py",
        "except Exception as error:\n        # Of a damaged archive",
        "except zipfile.BadZipFile as error:\n        # Of a damaged archive",
        "tests/strangers/test_fuzz_sources.py::test_a_zip_with_a_place_before_its_start_is_refused",
    ),
    Break(
        "what an archive unpacks to is bounded",
        "pipelines/decode.py",
        "if room < 0:",
        "if False:",
        "tests/strangers/test_input_archives.py::test_a_payload_that_unpacks_without_end_is_refused",
    ),
    Break(
        "no word for what is not finite becomes a key or a note",
        "pipelines/outcomes.py",
        "return value if isinstance(value, str) else str(amount(field, value))",
        "return str(value)",
        "tests/strangers/test_input_json.py::test_no_word_for_what_is_not_finite_becomes_a_figure",
    ),
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
