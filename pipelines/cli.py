"""The `tokenyield` command.

Belongs here: arguments, what is printed, exit codes. Does not belong here: any work (`run.py`,
`imports.py`, `own_cost.py`). Dagster is imported only by the commands that run it: a query must not wait
for it. Exit code 0 means done; 1 means a named error, in one line with its cure; 2 means a wrong command
line.
"""

from __future__ import annotations

import inspect
import math
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
import typer
from rich.console import Console

from pipelines import answers, completion, limits
from pipelines.failure import Failure
from pipelines.home import PROJECT, SEEDS, Home

app = typer.Typer(
    help="What a million tokens cost to make on each accelerator, on each date, and why it moved.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Format(StrEnum):
    """How rows are printed."""

    table = "table"
    csv = "csv"
    json = "json"


class Tokens(StrEnum):
    """Which tokens a cost is of."""

    output = "output"
    input = "input"
    total = "total"


# The groups of the commands in `--help`, in this order.
MAKE = "Take in and build"
ASK = "Ask the published copy"
CHECK = "See how it is doing"
SERVE = "Keep it running"

FormatOption = Annotated[Format, typer.Option("--format", help="How rows are printed.")]


@app.command(rich_help_panel=MAKE)
def build(
    as_of: Annotated[
        str, typer.Option(help="Use only what was known by then: YYYY-MM-DD or an instant with its zone.")
    ] = "",
) -> None:
    """Load what is stored, build and check every table, record the day, publish, show the headline."""
    moment = _moment("--as-of", as_of) if as_of else None
    if moment and moment > datetime.now(UTC):
        raise typer.BadParameter(f"--as-of {as_of} lies in the future: nobody knows what will be known then")
    home = Home.from_environment()
    _execute(home, "build", {"raw": {"config": {"as_of": moment.isoformat()}}} if moment else {})
    answers.print_headline(home)


@app.command(rich_help_panel=MAKE)
def rebuild() -> None:
    """Make the warehouse anew from what is stored alone, then record, publish and show as `build` does.

    The one that is there stays until the new one has passed every check. `build` does the same by itself
    where the warehouse is damaged or gone.
    """
    from pipelines import run

    home = Home.from_environment()
    built = run.rebuild(home, lambda line: errors.print(line, markup=False))
    errors.print(f"rebuilt  {len(built)} tables from the snapshots alone", markup=False)
    for job in ("record", "publish"):
        _execute(home, job)
    answers.print_headline(home)


def _execute(home: Home, job: str, ops: dict[str, Any] | None = None) -> None:
    dagster_home(home)
    import dagster as dg

    from pipelines.definitions import defs

    config = {"loggers": {"console": {}}, "ops": ops or {}}
    with dg.DagsterInstance.get() as instance:
        result = defs.resolve_job_def(job).execute_in_process(instance=instance, run_config=config)
    if not result.success:
        raise Failure("the run did not succeed; `tokenyield dev` shows its log")


@app.command(rich_help_panel=MAKE)
def fetch(
    slugs: Annotated[
        list[str] | None,
        typer.Argument(help="Sources; none: every one.", autocompletion=completion.sources),
    ] = None,
) -> None:
    """Ask sources for their payloads, live, and store them. `build` turns them into tables."""
    from pipelines import intake
    from pipelines.source import all_sources

    wanted = [_source(slug) for slug in slugs] if slugs else list(all_sources().values())
    off = [f"{source.slug}: {source.off_because}" for source in wanted if source.off_because]
    if slugs and off:
        raise Failure("; ".join(off))
    for reason in off:
        errors.print(f"skipped {reason}", markup=False)
    if not intake.fetch(Home.from_environment(), [s for s in wanted if not s.off_because], errors):
        raise typer.Exit(1)


@app.command("import", rich_help_panel=MAKE)
def import_files(
    slug: Annotated[
        str | None,
        typer.Argument(
            help="The source whose payload it is; see `tokenyield sources`.",
            autocompletion=completion.sources,
        ),
    ] = None,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Payload files as the source sends them; folders and archives of them."),
    ] = None,
    observed_at: Annotated[
        str,
        typer.Option(
            help="When the files were seen, where neither payload nor name proves it, nor, for a "
            "measurement, `measured_on` in its context."
        ),
    ] = "",
    context: Annotated[
        Path | None,
        typer.Option(
            help="YAML that states what the files do not, for files that have no context of their own: no "
            "<file>.context.yaml beside them and no context.yaml in their folder or one above it, up to the "
            "path that is named. Where both speak of a file and differ, the file is refused."
        ),
    ] = None,
    context_template: Annotated[
        bool, typer.Option("--context-template", help="Print an empty context for a benchmark file; alone.")
    ] = False,
) -> None:
    """Store payload files as snapshots: same parser, same checks as a live fetch.

    Folders are searched with all folders in them. Archives (.zip, .tar, .tar.gz,
    .tar.bz2, .tar.xz) are read without being unpacked, and refused whole when
    damaged or unsafe. Of several files, one that is refused stops no other.

    Skipped, and counted: hidden files, links within a folder, and documents
    (README.md, *.log, ...) that the source does not read. Exit code 1: a file was
    refused, or none was a payload.
    """
    if context_template:
        if slug or paths or observed_at or context:
            raise typer.BadParameter("--context-template stands alone")
        from pipelines.run_context import template

        sys.stdout.write(template())
        return
    if not slug or not paths:
        raise typer.BadParameter("name a source, then its payload files, folders or archives")
    stated = _moment("--observed-at", observed_at) if observed_at else None
    from pipelines import intake

    if not intake.import_files(Home.from_environment(), _source(slug), paths, stated, context, errors):
        raise typer.Exit(1)


@app.command(rich_help_panel=ASK)
def sql(
    query: Annotated[str, typer.Argument(help="A query; tables are mart.<name>.")] = "",
    file: Annotated[
        Path | None, typer.Option(help="A file that holds the query, such as one of sql/cookbook.")
    ] = None,
    output: FormatOption = Format.table,
) -> None:
    """Ask the published copy."""
    if bool(query) == bool(file):
        raise typer.BadParameter("say what to ask: a query or --file, one of the two")
    answers.print_query(Home.from_environment(), _text_of(file) if file else query, output)


@app.command(rich_help_panel=ASK)
def cost(
    chip: Annotated[
        str,
        typer.Option(help="The chip, as mart.chip names it: h100-sxm-80.", autocompletion=completion.chips),
    ],
    price: Annotated[
        float | None,
        typer.Option(help="Your price, $ per GPU-hour. None: the headline's price series, as of today."),
    ] = None,
    factor: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of a benchmark's throughput that your traffic reaches. None: as sourced.",
        ),
    ] = None,
    utilisation: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of paid hours in which the GPUs work. None: not applied."),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="Output speed that each user must see, tok/s. None: every point measured."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="One model alone, as mart.model names it.", autocompletion=completion.models),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="One workload alone, as mart.workload names it.", autocompletion=completion.workloads
        ),
    ] = None,
    tokens: Annotated[Tokens, typer.Option(help="Which tokens are priced, over all GPUs.")] = Tokens.output,
    limit: Annotated[int, typer.Option(min=1, help="Rows of a table; csv and json have every row.")] = 20,
    output: FormatOption = Format.table,
) -> None:
    """What a million tokens cost on a chip at your own price, factor and utilisation.

    Reads the published copy and stores nothing. Best rows first: measured and fit to be ranked, then the
    cheapest. SQL has the same as mart.cost_with and mart.cost_at_with.
    """
    from pipelines import own_cost

    for option, value in (("--price", price), ("--factor", factor), ("--speed", speed)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise typer.BadParameter(f"{option} {value:g} is not above 0")
    question = own_cost.Question(chip, price, factor, utilisation, speed, model, workload, tokens)
    own_cost.print_cost(Home.from_environment(), question, output, limit)


@app.command(rich_help_panel=ASK)
def explain(
    row: Annotated[list[str], typer.Argument(help="A cost_id, or column=value ... of a row's key.")],
    on: Annotated[str, typer.Option(help="The day; none: the last on which its price holds.")] = "",
    price: Annotated[
        float | None, typer.Option(min=0, help="Your price, as in `tokenyield cost`, whose cost_id it is.")
    ] = None,
    factor: Annotated[float | None, typer.Option(min=0, max=1, help="Your factor, likewise.")] = None,
    output: Annotated[Literal["table", "json"], typer.Option("--format")] = "table",
) -> None:
    """The chain of one cost: formula, price, votes, quotes, benchmark, payloads with hash and address.

    A row of mart.cost_per_million_tokens_daily is told by its key, and with speed_tok_s_user=42 one of
    mart.cost_at_speed; token_kind is output and gpu_scope all unless said. Every sum is worked out again;
    exit code 1: one does not come out as stored.
    """
    from pipelines import explain as explaining

    question = explaining.asked(row, _moment("--on", on).date() if on else None, price, factor)
    if not explaining.print_explanation(Home.from_environment(), question, output):
        raise typer.Exit(1)


@app.command(rich_help_panel=CHECK)
def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="A published version, `current`, or a recorded day as YYYY-MM-DD.",
            autocompletion=completion.versions,
        ),
    ] = "current",
) -> None:
    """Make published values again from the stored bytes: MATCH or MISMATCH for each; exit 0 if all match.

    A version: every table, file and headline value, from exactly the snapshots that it was made of. A day:
    every yield of its record, from what was stored when it was written. All stored bytes are verified first.
    """
    from pipelines import reproduce as reproducing

    if not reproducing.print_verdicts(Home.from_environment(), what, errors):
        raise typer.Exit(1)


@app.command(rich_help_panel=CHECK)
def sources(output: FormatOption = Format.table) -> None:
    """Every source: what it is, how it is asked, how it is doing."""
    answers.print_sources(Home.from_environment(), output)


@app.command(rich_help_panel=CHECK)
def status(
    output: FormatOption = Format.table,
    max_age: Annotated[
        str, typer.Option(help="Print nothing; exit code 1 when copy or record are older: 90m, 26h, 2d.")
    ] = "",
) -> None:
    """What became of every stored payload, and how old the published copy is."""
    home = Home.from_environment()
    if not max_age:
        answers.print_status(home, output)
        return
    from pipelines import watch

    try:
        limit = watch.age_limit(max_age)
    except ValueError as error:
        raise typer.BadParameter(f"--max-age {error}") from error
    if wrong := watch.too_old(home, limit):
        raise Failure("; ".join(wrong))


@app.command(rich_help_panel=CHECK)
def schedule(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How far to look back.")] = 31,
    output: FormatOption = Format.table,
) -> None:
    """Which slots of the schedules were missed, failed or are due; the accounts of all on standard error."""
    home = Home.from_environment()
    if not home.dagster.is_dir():
        raise Failure(f"no schedule has run in {home.root} yet; `tokenyield dev` runs them")
    dagster_home(home)
    import dagster as dg

    from pipelines.schedules import SCHEDULES
    from pipelines.slots import slots

    with dg.DagsterInstance.get() as instance:
        found = list(slots(instance, SCHEDULES, datetime.now(UTC), days))
    wrong = [
        (one.schedule, slot, state)
        for one in found
        for slot, state in one.states.items()
        if state in ("missed", "failed", "due")
    ]
    answers.print_rows(["schedule", "slot", "state"], wrong, output)
    for one in found:
        errors.print(one.told, markup=False)


@app.command(rich_help_panel=SERVE)
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8787,
) -> None:
    """Serve the published copy read-only on this machine: the page, Parquet, JSON, the database."""
    from pipelines import serve as serving

    with serving.server(Home.from_environment().published, port) as server:
        address = f"http://{server.server_address[0]}:{server.server_address[1]}/"
        errors.print(f"serving the newest version at {address} until you stop it (Ctrl-C)", markup=False)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            errors.print("stopped", markup=False)


@app.command(rich_help_panel=SERVE)
def dev() -> None:
    """Open Dagster's UI with the schedules running."""
    dagster_home(Home.from_environment())
    import dagster as dg

    # A cron that cannot be read is an error here, and not a line in the log of a server.
    from pipelines import schedules  # noqa: F401
    from pipelines.orphans import fail_orphans

    with dg.DagsterInstance.get() as instance:
        for run_id in fail_orphans(instance):
            errors.print(
                f"run {run_id} was cut off when it last ran; it is on record as failed", markup=False
            )
    os.chdir(PROJECT)
    os.environ["VIRTUAL_ENV"] = sys.prefix
    command = Path(sys.executable).with_name("dg")
    os.execv(command, [str(command), "dev"])


def dagster_home(home: Home) -> None:
    """Point Dagster at the state directory; it wants an absolute path and its settings inside it."""
    home.dagster.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(PROJECT / "dagster.yaml", home.dagster / "dagster.yaml")
    os.environ["DAGSTER_HOME"] = str(home.dagster)
    os.environ["TOKENYIELD_HOME"] = str(home.root)


def _source(slug: str) -> Any:
    from pipelines.source import all_sources

    found = all_sources()
    if slug not in found and list(SEEDS.glob(f"*/{slug}.csv")):
        raise typer.BadParameter(f"{slug!r} is typed: edit its file in seeds/ and run `tokenyield build`")
    if slug not in found:
        near = get_close_matches(slug, found, n=3)
        told = f"near it: {', '.join(near)}" if near else f"there are {', '.join(sorted(found))}"
        raise typer.BadParameter(f"no source is named {slug!r}; {told}")
    return found[slug]


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{file} is no text in UTF-8, so no query") from error


def _moment(option: str, text: str) -> datetime:
    """A day (its start, UTC) or an instant with a zone; never an instant whose zone is a guess."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option} {text!r} is no YYYY-MM-DD and no ISO instant") from error
    if len(text) == len("2026-01-31"):
        return moment.replace(tzinfo=UTC)
    if moment.tzinfo is None:
        raise typer.BadParameter(f"{option} {text!r} names no time zone; add Z or an offset")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise typer.BadParameter(f"{option} {text!r} is no moment that UTC can name") from error


# A terminal breaks lines where it ends, and not where the source does.
for command in app.registered_commands:
    command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(command.callback) or "")


def main() -> None:
    """The entry point: every error that has a name becomes one line and exit code 1."""
    try:
        app()
    except duckdb.Error as error:
        # What points into a query may be pages long; what DuckDB would have known is worth its place.
        first, *others = str(error).splitlines()
        near = [line for line in others if line.startswith(("Did you mean", "Candidate bindings"))]
        errors.print(f"error: {' '.join([first, *near])}", markup=False)
    except (Failure, OSError) as error:
        errors.print(f"error: {error}", markup=False)
    except Exception as error:
        # Such as the history of runs, which Dagster keeps in SQLite.
        if not limits.is_full(error):
            raise
        errors.print(f"error: {limits.full(Home.from_environment().root)}", markup=False)
    else:
        return
    sys.exit(1)


if __name__ == "__main__":
    main()
