"""The SQL models: one asset a file, all built in one transaction.

Belongs here: turning models into asset specs and results. Does not belong here: building and checking
(`sql_models.py`). Results are yielded after the commit: a run that was rolled back must not look
materialised.
"""

from collections.abc import Iterator

import dagster as dg

from pipelines import run
from pipelines.home import Home
from pipelines.sql_build import Built
from pipelines.sql_models import Model

MODELS = run.models()


def model_key(name: str) -> dg.AssetKey:
    """`core.chip` -> core/chip."""
    return dg.AssetKey(name.split("."))


def _spec(model: Model) -> dg.AssetSpec:
    return dg.AssetSpec(
        model_key(model.name),
        group_name=model.schema,
        description=model.description,
        deps=[model_key(name) for name in model.depends_on],
        metadata={"grain": ", ".join(model.grain), "file": str(model.path.name)},
    )


@dg.multi_asset(
    name="models",
    specs=[_spec(model) for model in MODELS.values()],
    check_specs=[
        dg.AssetCheckSpec(
            "holds", asset=model_key(name), description="; ".join(("grain is unique", *model.checks))
        )
        for name, model in MODELS.items()
    ],
)
def sql_models(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:
    """Create or replace every table, run every check, commit or change nothing."""

    def progress(built: Built) -> None:
        context.log.info(f"{built.model.name}  {built.rows} rows")
        for warning in built.warnings:
            context.log.warning(warning)

    for built in run.build(Home.from_environment(), progress):
        yield dg.MaterializeResult(
            asset_key=model_key(built.model.name),
            metadata={"dagster/row_count": built.rows},
            check_results=[
                dg.AssetCheckResult(asset_key=model_key(built.model.name), check_name="holds", passed=True)
            ],
        )
