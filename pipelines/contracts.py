"""The row kinds: what a parsed row may hold, column by column, with type, unit and meaning.

Belongs here: the shape of rows that enter `raw`, from payloads and from fact seeds.
Does not belong here: the shape of anything computed (that is a SQL model's header), and the shape of
reference seeds (`seeds.py`). The Polars schema, the DDL of `raw` and the data dictionary all come from
these lists; nothing infers a type, because both DuckDB and Polars round prices silently when they do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import polars as pl

# Money as stated keeps twelve decimals in `raw`: a whole-instance price divided by its GPUs is then
# rounded once, in `clean`, to the DECIMAL(18,6) that every later layer carries.
MONEY_SCALE = 12
MONEY_LIMIT = Decimal(10) ** 15
INTEGER_LIMIT = 2**63


@dataclass(frozen=True)
class ColumnType:
    """One of the few types that a contract may use: its SQL, its Polars dtype, its Python value."""

    sql: str
    polars: pl.DataType
    python: type | tuple[type, ...]


TYPES: dict[str, ColumnType] = {
    "text": ColumnType("varchar", pl.String(), str),
    "int": ColumnType("bigint", pl.Int64(), int),
    "count": ColumnType("bigint", pl.Int64(), int),
    "number": ColumnType("double", pl.Float64(), (int, float, Decimal)),
    "positive": ColumnType("double", pl.Float64(), (int, float, Decimal)),
    "share": ColumnType("double", pl.Float64(), (int, float, Decimal)),
    "money": ColumnType(f"decimal(28,{MONEY_SCALE})", pl.Decimal(28, MONEY_SCALE), (int, Decimal)),
    "price": ColumnType(f"decimal(28,{MONEY_SCALE})", pl.Decimal(28, MONEY_SCALE), (int, Decimal)),
    "bool": ColumnType("boolean", pl.Boolean(), bool),
    "date": ColumnType("date", pl.Date(), date),
    "instant": ColumnType("timestamptz", pl.Datetime("us", "UTC"), datetime),
}
NUMERIC = {"number", "positive", "share", "money", "price"}
STRICTLY_POSITIVE = {"count", "positive", "price"}


@dataclass(frozen=True)
class Column:
    """A column of a contract. `allowed` lists the only values that a text column may take."""

    name: str
    type: str
    description: str
    required: bool = False
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowKind:
    """One kind of row: the table `raw.<name>` and everything that may be in it."""

    name: str
    description: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Return the column `name`; raises KeyError when the contract has none of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name} has no column {name!r}")


class ContractError(ValueError):
    """A row does not fit its contract. `field` and `value` name what was wrong."""

    def __init__(self, reason: str, field: str, value: object) -> None:
        super().__init__(f"{field}: {reason}: {value!r}")
        self.reason, self.field, self.value = reason, field, value


def parse_columns(text: str) -> tuple[Column, ...]:
    """Read the compact tables below: `name | type[!] | description [one of: a, b]`, `!` = required."""
    columns = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, kind, description = (part.strip() for part in line.split("|", 2))
        _, _, listed = description.partition("[one of: ")
        allowed = tuple(v.strip() for v in listed.rstrip("]").split(",")) if listed else ()
        columns.append(Column(name, kind.rstrip("!"), description, kind.endswith("!"), allowed))
    return tuple(columns)


PRICE_TYPES = "on_demand, spot, reserved, capacity_block, from_floor, bid_floor, owning_cost"

RENTAL_QUOTE = RowKind(
    "rental_quote",
    "One listed price of one product by one provider at one moment.",
    parse_columns(f"""
        provider          | text!    | provider as the source names it; a key of seeds/provider.csv
        offer_key         | text!    | the source's own key of the product: instance type, part number, plan
        raw_gpu_name      | text!    | the name that says which GPU it is, as the source writes it
        product_name      | text     | the source's own words for the product
        raw_memory_gb     | positive   | memory of one GPU in GB as stated
        gpu_count         | positive   | GPUs of the rented unit as stated; a fraction stays a fraction
        price             | price!   | the amount as stated, in `currency`, for one `price_unit`
        currency          | text!    | ISO 4217 code of `price`
        price_unit        | text!    | what the price buys [one of: gpu_hour, instance_hour, term_total, instance_month]
        term_hours        | positive   | hours that a term_total or an instance_month buys
        price_type        | text!    | how the capacity is bought [one of: {PRICE_TYPES}]
        commitment_months | int      | months of commitment of a reserved price
        derivation        | text     | null: listed as it is; else how the figure came about, and it never votes [one of: ask_statistic, derived_from_token_price, list_price_less_saving]
        machine_key       | text     | the physical machine, where a marketplace shows it; slices of one machine share it
        host_key          | text     | who owns the machine, where a marketplace shows it
        region            | text     | region as the source names it; null where one price holds everywhere
        availability      | text!    | what the source says of stock [one of: available, unavailable, listed]
        listing_kind      | text!    | a whole rentable machine or a part of one [one of: bundle, component]
        observed_at       | instant! | when the source showed this price
        effective_from    | instant  | since when the source says this price holds
        known_at          | instant  | when the world could know it; null: the time of the snapshot
        date_precision    | text     | how precise the stated date is; null: to the instant [one of: day, month]
        url               | text     | where the figure can be seen
        note              | text     | what a reader must know about this figure
    """),
)

RENTAL_INDEX_VALUE = RowKind(
    "rental_index_value",
    "One published value of a price index, or one constant of a published cost model.",
    parse_columns(f"""
        index_name        | text!    | the publisher's series; a key of seeds/price_series.csv
        method_version    | text     | the publisher's method version
        raw_gpu_name      | text!    | chip as the publisher names it
        price_type        | text!    | what kind of price it is [one of: {PRICE_TYPES}]
        commitment_months | int      | months of commitment of a reserved price
        value_date        | date!    | first day on which the value holds
        date_precision    | text!    | how precise the stated date is [one of: day, month]
        value             | price!   | the value in `currency` per GPU-hour
        currency          | text!    | ISO 4217 code of `value`
        provider_count    | int      | providers behind the value as stated
        revision          | text!    | a new value, or a corrected past one [one of: new, correction]
        known_at          | instant  | when it was published; null: the time of the snapshot
        url               | text     | where the figure can be seen
        note              | text     | what a reader must know about this figure
    """),
)

BENCHMARK_RESULT = RowKind(
    "benchmark_result",
    "One measured or stated operating point: a chip, model, engine, workload and load, with what it made.",
    parse_columns("""
        publisher         | text!   | who published it, e.g. inferencex; one point has one publisher whatever file it came in
        point_label       | text    | the publisher's own name of the point, where conditions alone do not tell two apart
        result_id         | text    | the publisher's own key of the result, where it has one; a corrected condition is then no other result
        run_id            | text    | the run that measured it
        attempt           | int     | attempt of that run; a later attempt replaces an earlier one
        measured_on       | date    | day of measurement
        published_on      | date    | day of publication
        date_precision    | text!   | how precise measured_on is [one of: day, month, unknown]
        supersedes_label  | text    | point_label that this point replaces, where no date orders them
        known_at          | instant | when the world could know it; null: the time of the snapshot
        raw_chip_name     | text!   | chip as the publisher names it, with its form factor where that is known: H200 SXM, for no price is one of a bare H200
        raw_model_name    | text!   | model as the publisher names it
        model_revision    | text    | exact revision of the model
        parameters_stated | text    | parameter counts that the publisher states beside the figure [one of: total, total_and_active]
        weight_precision  | text    | precision of the weights: fp4, fp8, bf16, int4
        kv_precision      | text    | precision of the KV cache
        engine            | text    | serving engine
        engine_version    | text    | its version
        image             | text    | its container image
        release_status    | text    | what the publisher says of the hardware and software used; internal: for research, development or inside use alone [one of: available, preview, internal, unofficial]
        tp                | count     | tensor-parallel ranks of the server; of one decode worker when disaggregated
        pp                | count     | pipeline-parallel ranks of the same
        cp                | count     | context-parallel ranks of the same
        ep                | count     | expert-parallel ranks of the same; they add no GPUs
        dp                | count     | data-parallel replicas inside the same; with dp_attention they share the tensor ranks
        dp_attention      | bool    | data-parallel attention of the same; it adds no GPUs
        workers           | count     | replicas of the server; decode workers when disaggregated
        prefill_tp        | count     | tensor-parallel ranks of one prefill worker when disaggregated
        prefill_pp        | count     | pipeline-parallel ranks of the same
        prefill_ep        | count     | expert-parallel ranks of the same
        prefill_dp        | count     | data-parallel replicas inside the same
        prefill_dp_attention | bool | data-parallel attention of the same
        prefill_workers   | count     | prefill workers
        disaggregated     | bool    | prefill and decode run on different GPUs
        accelerator_count | count     | GPUs of the whole deployment, only where a trustworthy source states them
        prefill_accelerator_count | count | GPUs of its prefill side, as stated
        decode_accelerator_count  | count | GPUs of its decode side, as stated
        recorded_accelerator_count | count | GPUs as the publisher's own record has them, where they are known not to be the GPUs used
        provisioned_accelerator_count | count | GPUs that the system holds, idle ones included, where stated apart from those used
        workload          | text!   | the workload's key: fixed-8192-1024, agentx, ...
        isl_nominal       | count     | nominal input tokens per request
        osl_nominal       | count     | nominal output tokens per request
        isl_mean          | positive  | actual mean input tokens per request
        osl_mean          | positive  | actual mean output tokens per request
        dataset           | text    | where the prompts come from, as stated
        dataset_seed      | text    | seed of generated prompts: equal seeds repeat the prompts
        cache_hit_rate    | share   | share of input tokens that hit a prefix cache, 0 to 1
        concurrency       | count     | requests in flight
        request_rate      | positive  | requests per second offered
        arrival           | text    | how requests arrive [one of: closed_loop, poisson, all_at_once, trace]
        sequences_per_gpu | positive  | sequences in flight per GPU, as stated
        planned_requests  | int     | requests that were to be sent in the measurement
        completed_requests | int    | requests that succeeded
        failed_requests   | int     | requests that failed; null is unknown, never zero
        duration_s        | positive  | length of the measurement
        throughput_basis  | text    | what the three throughputs are divided by [one of: system, per_gpu, per_role_gpu]
        output_tok_s      | positive  | output tokens per second; of the system, per GPU, or per decode GPU, see throughput_basis
        input_tok_s       | positive  | input tokens per second; of the system, per GPU, or per prefill GPU
        total_tok_s       | positive  | input plus output tokens per second; of the system or per GPU of the deployment
        interactivity_tok_s_user | positive | output speed that one user sees: 1 / TPOT, TPOT without the first token
        speed_percentile  | text    | which user that is [one of: p50, p90, p99, mean, stated]
        ttft_p50_ms       | positive  | time to first token, median
        ttft_p90_ms       | positive  | time to first token, 90th percentile
        ttft_p95_ms       | positive  | time to first token, 95th percentile
        ttft_p99_ms       | positive  | time to first token, 99th percentile
        tpot_p50_ms       | positive  | time per output token without the first, median
        tpot_p90_ms       | positive  | the same, 90th percentile
        tpot_p95_ms       | positive  | the same, 95th percentile
        tpot_p99_ms       | positive  | the same, 99th percentile
        itl_p50_ms        | positive  | gap between streamed chunks, median; never a token speed
        e2e_p50_ms        | positive  | whole request, median
        e2e_p99_ms        | positive  | whole request, 99th percentile
        speculative_method | text   | speculative decoding: none, mtp, eagle, ...; null is unknown
        acceptance_length | positive  | tokens accepted per verification step
        acceptance_basis  | text    | where the acceptance comes from [one of: measured, synthetic, assumed]
        accuracy_task     | text    | evaluation that was run beside it
        accuracy_value    | share   | its score, 0 to 1
        power_w_gpu       | positive  | measured board power per GPU
        power_kw_gpu_provisioned | positive | stated all-in power per GPU
        traffic_basis     | text!   | what it was measured under [one of: benchmark, replay, live]
        evidence          | text!   | how good the figure is [one of: measured, vendor_claim, read_off_chart, derived, assumed]
        independent       | bool    | measured by someone other than the vendor
        methodology       | text    | how it was measured is public: with code that anyone can run, or in words [one of: runnable, described]
        claimed_cause     | text    | what the publisher says made it move
        url               | text    | run link or page
        note              | text    | what a reader must know about this figure
    """),
)

EVALUATION_RESULT = RowKind(
    "evaluation_result",
    "One accuracy score of one served configuration: the gate of its speed, and no speed itself.",
    parse_columns("""
        publisher         | text!   | who published it
        result_id         | text    | the publisher's own key of the evaluation, where it has one
        run_id            | text    | the run that measured it
        attempt           | int     | attempt of that run
        measured_on       | date!   | day of measurement
        known_at          | instant | when the world could know it; null: the time of the snapshot
        raw_chip_name     | text!   | chip as the publisher names it
        raw_model_name    | text!   | model as the publisher names it
        weight_precision  | text    | precision of the weights
        engine            | text    | serving engine
        image             | text    | its container image
        speculative_method | text   | speculative decoding: none, mtp, ...; null is unknown
        disaggregated     | bool    | prefill and decode run on different GPUs
        tp                | count   | tensor-parallel ranks of the server; of one decode worker when disaggregated
        ep                | count   | expert-parallel ranks of the same
        dp_attention      | bool    | data-parallel attention of the same
        workers           | count   | replicas of the server; decode workers when disaggregated
        prefill_tp        | count   | tensor-parallel ranks of one prefill worker when disaggregated
        prefill_ep        | count   | expert-parallel ranks of the same
        prefill_dp_attention | bool | data-parallel attention of the same
        prefill_workers   | count   | prefill workers
        isl_nominal       | count   | nominal input tokens per request of the speed runs that it belongs to
        osl_nominal       | count   | nominal output tokens per request of the same
        concurrency       | count   | requests in flight
        task              | text!   | the evaluation, e.g. gsm8k
        metric            | text!   | which of its scores
        value             | share!  | the score, 0 to 1
        standard_error    | number  | its standard error as stated
        sample_count      | count   | questions asked
        url               | text    | run link or page
    """),
)

RUN_RELIABILITY = RowKind(
    "run_reliability",
    "How many benchmark jobs of one chip succeeded on one day.",
    parse_columns("""
        publisher         | text!   | who published it
        raw_chip_name     | text!   | chip as the publisher names it
        day               | date!   | day of the jobs
        succeeded_jobs    | int!    | jobs that succeeded
        total_jobs        | count!  | jobs that ran
        known_at          | instant | when the world could know it; null: the time of the snapshot
    """),
)

CHANGE_NOTE = RowKind(
    "change_note",
    "What a publisher says it changed in one of its configurations: the claimed cause of a later move.",
    parse_columns("""
        publisher         | text!   | who published it
        note_key          | text!   | the publisher's own key of the entry, or its place in an append-only list
        config_key        | text!   | configuration as the publisher names it; a pattern where it writes one
        raw_chip_name     | text    | chip that the configuration names, as the publisher names it
        raw_model_name    | text    | model that it names
        description       | text!   | what was changed, in the publisher's words
        run_id            | text    | first run with the change
        changed_on        | date    | day of that run or of the entry; null: not stated
        known_at          | instant | when the world could know it; null: the time of the snapshot
        url               | text    | the change itself
    """),
)

TOKEN_PRICE = RowKind(
    "token_price",
    "One dated price of one kind of token of one model at one provider: a card of a price deck.",
    parse_columns("""
        provider          | text!    | who sells the tokens
        raw_model_name    | text!    | model as the provider names it
        tier              | text!    | which rate [one of: standard, peak, off_peak]
        token_kind        | text!    | which tokens [one of: input, cached_input, output]
        price             | money!   | amount in `currency` per million tokens
        currency          | text!    | ISO 4217 code of `price`
        effective_from    | instant! | since when it holds
        date_precision    | text     | how precise that date is; null: to the instant [one of: day, month]
        known_at          | instant  | when it was published; null: the time of the snapshot
        url               | text     | where the figure can be seen
        note              | text     | what a reader must know about this figure
    """),
)

FX_RATE = RowKind(
    "fx_rate",
    "One reference rate of a day: how much of a currency one unit of the base currency buys.",
    parse_columns("""
        rate_date      | date!     | day of the rate
        base_currency  | text!     | ISO 4217 code of the base
        currency       | text!     | ISO 4217 code of what it buys
        rate           | positive! | units of `currency` for one unit of `base_currency`
        known_at       | instant   | when it was published; null: the time of the snapshot
    """),
)

CORRECTION = RowKind(
    "correction",
    "What a person says of stored facts: that a figure was stated wrongly, or that they no longer count. Nothing is overwritten.",
    parse_columns("""
        row_kind          | text!    | what is corrected [one of: benchmark_result, rental_quote, rental_index_value, token_price]
        locator           | text!    | which facts, in the grammar of pipelines/corrections.py
        action            | text!    | correct states a figure anew; retract takes benchmark results out of current views [one of: correct, retract]
        field             | text     | the figure that is corrected, a column of that row kind; null: retracted as a whole
        value_expected    | text     | the figure as its source states it, digit by digit; another one fails the build
        value_new         | text     | the figure as it should have been, in the same unit
        reason            | text!    | why
        decided_on        | date!    | day of the decision at its publisher
        known_at          | instant  | when the world could know it
        url               | text     | where it can be read
    """),
)

RECORDED_YIELD = RowKind(
    "recorded_yield",
    "One headline yield as it stood in the record of a day: cost of output tokens, all GPUs and the whole bill.",
    parse_columns("""
        date                   | date!    | UTC day of the yield and of its record
        chip_id                | text!    | the chip
        model_id               | text!    | the model
        precision              | text     | precision of the weights; null: not stated
        workload_id            | text!    | the workload
        token_kind             | text!    | which tokens [one of: output]
        gpu_scope              | text!    | which GPUs [one of: all]
        cost_allocation        | text!    | which part of the bill [one of: whole_bill]
        evidence               | text!    | measured, vendor_claim, read_off_chart, derived or assumed
        traffic_basis          | text     | benchmark, replay or live
        speed_percentile       | text     | which user the speed is of; null: no speed is stated
        speed_tier             | text!    | max_throughput, or tokens per second that each user sees
        price_series_id        | text!    | price series, one of those beside the headline of the day
        usd_per_gpu_hour       | price    | price in US dollars per GPU-hour; null: none was known
        throughput_tok_s_gpu   | positive! | output tokens per second / all GPUs
        usd_per_million_tokens | positive | cost in US dollars, unrounded; null: see null_reason
        null_reason            | text     | why there was no cost
        eligible               | bool!    | could be ranked
        eligibility_reason     | text!    | eligible, or the first gate that it failed
        position               | text!    | measured, or interpolated between two points
        serving_line_id        | text     | one deployable server in one run
        benchmark_point_id     | text!    | the point; of a tier the slower point of the bracket
        above_point_id         | text     | the faster point of the bracket; null: a point itself
        cost_id                | text     | row of cost_per_million_tokens; null at a tier
        price_fact_id          | text     | the quote or published value behind the price
        method_version         | text!    | versions of the methods behind throughput and price
    """),
)

ROW_KINDS: dict[str, RowKind] = {
    kind.name: kind
    for kind in (
        RENTAL_QUOTE,
        RENTAL_INDEX_VALUE,
        BENCHMARK_RESULT,
        EVALUATION_RESULT,
        RUN_RELIABILITY,
        CHANGE_NOTE,
        CORRECTION,
        TOKEN_PRICE,
        FX_RATE,
        RECORDED_YIELD,
    )
}


def checked(kind: RowKind, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return `row` with every value fitted to the contract of `kind`, absent columns as None.

    Raises ContractError on the first value that does not fit: an unknown column, a missing required
    value, a wrong type (a boolean is no number), a value outside the allowed ones, a number that is not
    finite, an instant without a zone. Whether a finite number is plausible is not asked here.
    """
    unknown = row.keys() - {column.name for column in kind.columns}
    if unknown:
        raise ContractError("unknown_column", sorted(unknown)[0], row[sorted(unknown)[0]])
    return {column.name: fit(column, row.get(column.name)) for column in kind.columns}


def fit(column: Column, value: Any) -> Any:
    if value is None or value == "":
        if column.required:
            raise ContractError("missing_value", column.name, value)
        return None
    accepted = TYPES[column.type].python
    is_bool = isinstance(value, bool)
    if not isinstance(value, accepted) or (is_bool and column.type != "bool"):
        raise ContractError("wrong_type", column.name, value)
    if column.type == "date" and isinstance(value, datetime):
        raise ContractError("wrong_type", column.name, value)
    if isinstance(value, int) and not is_bool and abs(value) >= INTEGER_LIMIT:
        raise ContractError("out_of_range", column.name, value)
    if isinstance(value, str) and not _is_unicode(value):
        raise ContractError("not_text", column.name, value)
    if column.type in NUMERIC and not math.isfinite(value):
        raise ContractError("not_finite", column.name, value)
    # A figure too small for a double is zero where it is used, and refused as one here.
    if column.type in STRICTLY_POSITIVE and (value <= 0 or float(value) == 0):
        raise ContractError("not_positive", column.name, value)
    # A count of what there was is never below zero; a percentage is no share.
    if column.type == "int" and value < 0:
        raise ContractError("negative", column.name, value)
    if column.type == "share" and not 0 <= value <= 1:
        raise ContractError("not_a_share", column.name, value)
    if column.allowed and value not in column.allowed:
        raise ContractError("value_not_allowed", column.name, value)
    if column.type == "instant":
        return _in_utc(column.name, value)
    if column.type in ("number", "positive", "share"):
        if not math.isfinite(float(value)):
            raise ContractError("out_of_range", column.name, value)
        return float(value)
    if column.type in ("money", "price"):
        amount = money(column.name, value)
        if column.type == "price" and amount == 0:
            raise ContractError("not_positive", column.name, value)
        return amount
    return value


def _in_utc(field: str, value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ContractError("time_without_zone", field, value)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ContractError("out_of_range", field, value) from error


def _is_unicode(value: str) -> bool:
    """False for a lone surrogate: JSON may spell one, and no file or database can hold it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def money(field: str, value: int | Decimal) -> Decimal:
    """Return `value` with MONEY_SCALE decimals, half-even; raises ContractError when it is out of range."""
    if abs(value) >= MONEY_LIMIT:
        raise ContractError("out_of_range", field, value)
    return Decimal(value).quantize(Decimal(1).scaleb(-MONEY_SCALE), rounding=ROUND_HALF_EVEN)


def frame(kind: RowKind, rows: Sequence[Mapping[str, Any]] | Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Build the Polars frame of rows that went through `checked`, column by column, nothing inferred."""
    rows = list(rows)
    return pl.DataFrame(
        [
            pl.Series(c.name, [row[c.name] for row in rows], dtype=TYPES[c.type].polars, strict=True)
            for c in kind.columns
        ]
    )
