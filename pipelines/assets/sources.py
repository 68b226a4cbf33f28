"""One asset a source: its live fetch into the snapshot store.

Belongs here: calling `ingest.fetch` and reporting what came of it. Does not belong here: fetching,
storing, parsing. An asset here never raises: a source that fails keeps its last good data, shows as a
failed check, and holds nobody back.
"""

from collections.abc import Iterator

import dagster as dg

from pipelines import ingest
from pipelines.home import Home
from pipelines.http import Fetcher, FetchError, Limits
from pipelines.snapshots import SnapshotStore
from pipelines.source import Source, all_sources

# Which raw table a source's rows land in, for the asset graph alone; the rows say it themselves.
TABLE_OF_KIND = {
    "rental": "rental_quote",
    "index": "rental_index_value",
    "benchmark": "benchmark_result",
    "token_price": "token_price",
    "fx": "fx_rate",
}


def snapshot_key(source: Source) -> dg.AssetKey:
    """`snapshot/<slug>`."""
    return dg.AssetKey(["snapshot", source.slug])


def fetched_sources() -> list[Source]:
    """Every source that has a live fetch."""
    return [source for source in all_sources().values() if source.requests is not None]


def snapshot_asset(source: Source) -> dg.AssetsDefinition:
    """The asset that asks `source` for its payload and stores it."""

    @dg.asset(
        key=snapshot_key(source),
        group_name="snapshot",
        description=f"{source.title}, as received. {source.licence}",
        check_specs=[dg.AssetCheckSpec("fetched", asset=snapshot_key(source), blocking=False)],
    )
    def fetch_snapshot(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:
        stored, problems = 0, []
        if source.off_because:
            context.log.info(f"{source.slug} skipped: {source.off_because}")
            yield dg.MaterializeResult(
                metadata={"skipped": source.off_because},
                check_results=[dg.AssetCheckResult(check_name="fetched", passed=True)],
            )
            return
        try:
            with Fetcher(Limits()) as fetcher:
                for result in ingest.fetch(source, SnapshotStore(Home.from_environment().snapshots), fetcher):
                    if isinstance(result, FetchError):
                        problems.append(str(result))
                    else:
                        stored += result.is_new
                        if result.clock:
                            context.log.warning(f"{source.slug}: {result.clock}")
        except Exception as error:
            # Whatever goes wrong with one source is that source's state and nobody else's.
            problems.append(f"{source.slug}: {type(error).__name__}: {error}")
        for problem in problems:
            context.log.warning(problem)
        yield dg.MaterializeResult(
            metadata={"new_payloads": stored},
            check_results=[
                dg.AssetCheckResult(
                    check_name="fetched",
                    passed=not problems,
                    severity=dg.AssetCheckSeverity.WARN,
                    metadata={"problems": problems},
                )
            ],
        )

    return fetch_snapshot
