"""The published copy as an asset.

Belongs here: calling `run.publish`. Does not belong here: what is published (`publish.py`).
"""

import dagster as dg

from pipelines import run
from pipelines.assets.models import MODELS, model_key
from pipelines.assets.record import RECORD_KEY
from pipelines.home import Home


@dg.asset(
    key=["published", "copy"],
    group_name="published",
    deps=[*(model_key(name) for name in MODELS if name.startswith("mart.")), RECORD_KEY],
    description="What readers open: marts, the facts behind them and the macros, swapped atomically.",
)
def published_copy(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """Write a version and move `current` to it."""
    published = run.publish(Home.from_environment())
    context.log.info(f"published  {published.tables} tables, {published.rows} rows: {published.folder}")
    context.log.info(f"published  {published.withheld_in_words}")
    return dg.MaterializeResult(
        metadata={"folder": dg.MetadataValue.path(str(published.folder)), "rows": published.rows}
    )
