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
        "an answer that repeats the key is refused",
        "pipelines/http.py",
        "if repeats_a_key(body):",
        "if False:",
        "tests/faults/test_security_keys.py::test_an_answer_that_repeats_the_key_is_refused_and_no_message_says_it",
    ),
    Break(
        "no message and no stored address holds a key",
        "pipelines/source.py",
        'text = text.replace(key, "***")',
        "pass",
        "tests/faults/test_security_keys.py::test_an_answer_that_repeats_the_key_is_refused_and_no_message_says_it",
    ),
    Break(
        "a damaged zip is refused whatever the reader stumbles over",
        "pipelines/decode.py",
        "except Exception as error:\n        # Of a damaged archive",
        "except zipfile.BadZipFile as error:\n        # Of a damaged archive",
        "tests/faults/test_fuzz_sources.py::test_a_zip_with_a_place_before_its_start_is_refused",
    ),
    Break(
        "what an archive unpacks to is bounded",
        "pipelines/decode.py",
        "if room < 0:",
        "if False:",
        "tests/faults/test_input_archives.py::test_a_payload_that_unpacks_without_end_is_refused",
    ),
    Break(
        "no word for what is not finite becomes a key or a note",
        "pipelines/outcomes.py",
        "return value if isinstance(value, str) else str(amount(field, value))",
        "return str(value)",
        "tests/faults/test_input_json.py::test_no_word_for_what_is_not_finite_becomes_a_figure",
    ),
)
