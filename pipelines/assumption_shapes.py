"""The shape of the seeds with which the economics are worked out: assumptions, accounts, printed figures.

Belongs here: declarations alone, as (name, description, key, columns[, what its columns point to]). Does not
belong here: any figure (that is the CSV), and what is no assumption and no figure to compute with, names and
sources above all (`seed_shapes.py`, which reads these in).
"""

from __future__ import annotations

from typing import Any

STATED_CLASS = "stated, derived, assumed, not_reproducible"

ASSUMPTION_SHAPES: tuple[tuple[Any, ...], ...] = (
    (
        "session_assumption",
        "A named assumption on how many sessions share one GPU; turns a speed into a cost that says what it assumes.",
        "assumption_id",
        """
        assumption_id         | text!     | key
        sessions_per_gpu      | positive! | sessions per GPU
        description           | text!     | in words
        source                | text!     | why it is of interest
        """,
    ),
    (
        "utilisation_assumption",
        "A named assumption on the share of paid hours in which GPUs run at a point's rate. No live-traffic factor: that says what the rate is.",
        "utilisation_id",
        """
        utilisation_id | text!   | key
        utilisation    | number! | share of paid hours, 0 to 1
        description    | text!   | in words
        source         | text!   | why it is of interest
        """,
    ),
    (
        "electricity_price",
        "A price of electricity that a person assumes for a data centre.",
        "electricity_price_id",
        """
        electricity_price_id | text!     | key
        usd_per_kwh          | positive! | US dollars per kWh
        known_at             | instant!  | when the figure was published
        description          | text!     | what it is the price of, and what is assumed
        source               | text!     | who publishes it
        """,
    ),
    (
        "task_assumption",
        "A named assumption on how often a task must be tried and what an attempt takes.",
        "task_assumption_id",
        f"""
        task_assumption_id        | text!     | key
        model_id                  | text!     | the model
        attempts                  | count!    | attempts paid for
        successes                 | int!      | of these, those that succeed; 0: none does
        output_tokens_per_attempt | positive! | output tokens of one attempt
        value_class               | text!     | how the figures came about [one of: {STATED_CLASS}]
        known_at                  | instant!  | when they were published, or assumed
        description               | text!     | in words
        source                    | text!     | the figures behind it
        """,
        {"model_id": "model"},
    ),
    (
        "daily_volume",
        "A stated number of tokens a day that a fleet is sized for.",
        "volume_id",
        """
        volume_id       | text! | key
        stated_value_id | text! | the figure, in tokens per day
        token_kind      | text! | which tokens it counts [one of: output, total]
        note            | text  | what a reader must know
        """,
        {"stated_value_id": "stated_value"},
    ),
    (
        "serving_account",
        "GPUs that were reserved for a time, how long they were busy and what they served.",
        "serving_account_id",
        f"""
        serving_account_id | text!     | key
        description        | text!     | what was accounted
        gpu_count          | count!    | GPUs reserved
        reserved_hours     | positive! | hours for which they were paid
        busy_hours         | positive! | of these, hours in which they served
        million_tokens     | number!   | tokens served, in millions; 0: none
        token_kind         | text!     | which tokens [one of: output, input, total]
        usd_per_gpu_hour   | price!    | rent
        value_class        | text!     | how the figures came about [one of: {STATED_CLASS}]
        known_at           | instant!  | when they were published
        source             | text!     | where they come from
        """,
    ),
    (
        "printed_cost",
        "A cost per million tokens as a text prints it, with the price and throughput that the text names for it; worked out again by mart.printed_cost_check.",
        "printed_table_id row_order",
        """
        printed_table_id               | text!     | the table
        row_order                      | count!    | its row
        usd_per_gpu_hour               | price!    | price that it names
        throughput_tok_s_gpu           | positive! | tokens per second per GPU that the row names
        printed_usd_per_million_tokens | positive! | the cost as printed
        decimals                       | int!      | decimals that it is printed with
        known_at                       | instant!  | when it was published
        source                         | text!     | the text
        """,
    ),
)
