-- A cost as some text prints it beside the price and the throughput that it should follow from, worked out again;
-- one row per printed figure. A printed cost agrees when it is the computed one rounded as printed.
-- grain: printed_table_id, row_order
-- column: printed_table_id | the table that was printed
-- column: row_order | the row of that table
-- column: usd_per_gpu_hour | price that the table names
-- column: throughput_tok_s_gpu | tokens per second per GPU that the row names
-- column: printed_usd_per_million_tokens | the cost as printed
-- column: decimals | decimals that it is printed with
-- column: usd_per_million_tokens | usd_per_gpu_hour / (throughput x 3600 / 10^6), unrounded
-- column: rounded_usd_per_million_tokens | the same, rounded as printed
-- column: agrees | the printed figure is that
-- column: off_by_percent | (printed / computed - 1) x 100; the base is the computed cost
-- column: source | the text
-- check: usd_per_million_tokens > 0
with

printed as (
    select * from raw.printed_cost
),

run as (
    select * from core.run
),

computed as (
    select
        printed.*,
        cast(printed.usd_per_gpu_hour as double) / (printed.throughput_tok_s_gpu * 3600 / 1e6)
            as usd_per_million_tokens,
    from printed
    cross join run
    where printed.known_at <= run.as_of
)

select
    printed_table_id,
    row_order,
    cast(usd_per_gpu_hour as decimal(18, 6)) as usd_per_gpu_hour,
    throughput_tok_s_gpu,
    printed_usd_per_million_tokens,
    decimals,
    usd_per_million_tokens,
    round(usd_per_million_tokens, cast(decimals as integer)) as rounded_usd_per_million_tokens,
    -- Half a unit of the last printed place, and what binary fractions lose of it.
    abs(usd_per_million_tokens - printed_usd_per_million_tokens) <= 0.5 * power(10, -decimals) + 1e-9 as agrees,
    (printed_usd_per_million_tokens / usd_per_million_tokens - 1) * 100 as off_by_percent,
    source,
from computed
