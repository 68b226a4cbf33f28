"""A price list in the shape of `oci_price_list`, as long as a test wants it: every item is a price.

Belongs here: the bytes alone. Does not belong here: storing or serving them.
"""

from __future__ import annotations

import json

SLUG = "oci_price_list"


def price_list(gpus: int, usd: float = 2.5) -> bytes:
    """The list of so many GPUs, each at `usd` per GPU-hour; the first is one that is known, an H100."""
    price = {"currencyCode": "USD", "prices": [{"model": "PAY_AS_YOU_GO", "value": usd}]}
    items = [
        {
            "partNumber": f"Y{number:05d}" if number else "B98415",
            "displayName": f"Compute - GPU - Invented {number}" if number else "Compute - GPU - H100",
            "metricName": "GPU Per Hour",
            "serviceCategory": "Compute - GPU",
            "currencyCodeLocalizations": [price],
        }
        for number in range(gpus)
    ]
    return json.dumps({"items": items}).encode()
