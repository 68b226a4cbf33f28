"""Alerts as an asset, after the published copy.

Belongs here: calling `run.tell`. Does not belong here: what an alert is (`sql/mart/alert.sql`) and how it is
told (`alerts.py`). The asset never raises: a run whose figures are published has done its work.
"""

import dagster as dg

from pipelines import run
from pipelines.assets.models import model_key
from pipelines.assets.publish import published_copy
from pipelines.home import Home


@dg.asset(
    key=["published", "alerts"],
    group_name="published",
    deps=[published_copy, model_key("mart.alert")],
    description="What people are told: alerts that are new, to the log and to TOKENYIELD_WEBHOOK_URL.",
)
def told_alerts(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """Tell what is new; whatever goes wrong is a line in the log."""
    try:
        told = run.tell(Home.from_environment(), context.log)
    except Exception as error:
        # The kind of error alone: its text may quote an address that holds a key.
        context.log.warning(f"alerts  nothing told: {type(error).__name__}")
        return dg.MaterializeResult(metadata={"outcome": f"nothing told: {type(error).__name__}"})
    sent = "not sent" if told.sent is None else told.sent
    return dg.MaterializeResult(metadata={"standing": told.standing, "new": told.logged, "webhook": sent})
