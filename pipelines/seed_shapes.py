"""The shape of every reference seed `seeds/<name>.csv`: its columns, its key, and what they point to.

Belongs here: declarations alone. Does not belong here: any figure (that is the CSV), the reading of it
(`seeds.py`), and the shape of facts in `seeds/<row kind>/` (that is `contracts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.assumption_shapes import ASSUMPTION_SHAPES, STATED_CLASS
from pipelines.contracts import PRICE_TYPES, RowKind, parse_columns

EVIDENCE = "measured, vendor_claim, read_off_chart, derived, assumed"


@dataclass(frozen=True)
class Reference:
    """A reference seed: its columns, its key, and the seeds that its columns point into."""

    kind: RowKind
    key: tuple[str, ...]
    points_to: Mapping[str, str]


def _reference(
    name: str, description: str, key: str, columns: str, points_to: Mapping[str, str] | None = None
) -> Reference:
    kind = RowKind(name, description, parse_columns(columns))
    return Reference(kind, tuple(key.split()), points_to or {})


REFERENCE: dict[str, Reference] = {
    reference.kind.name: reference
    for reference in (
        _reference(
            "chip",
            "One accelerator: model, form factor and memory.",
            "chip_id",
            """
            chip_id            | text!    | canonical key, e.g. h100-sxm-80
            chip_name          | text!    | name for people
            vendor             | text!    | maker
            architecture       | text     | architecture
            form_factor        | text     | SXM, PCIe, OAM, NVL72, ...
            memory_gb          | positive | memory of one chip in GB
            memory_gb_low      | positive | smallest memory figure that a source may state for it, usable GB
            memory_gb_high     | positive | largest such figure
            bandwidth_tb_s     | positive | memory bandwidth in TB/s
            fp8_dense_tflops   | positive | dense FP8 TFLOPS
            fp4_dense_tflops   | positive | dense FP4 TFLOPS
            tdp_w              | positive | power of one chip in W
            scale_up_domain    | count    | most chips that one interconnect domain holds
            node_gpu_count     | count    | chips of one full node as rented
            launched           | text     | launch date as precisely as the source states it
            source             | text     | where the figures come from; an unsourced figure stays blank
            note               | text     | conflicts and remarks
            """,
        ),
        _reference(
            "chip_alias",
            "A name that a source uses for a chip. source `*` holds for every source; a blank chip_id is a name that a person has looked at and will not map.",
            "source raw_name",
            """
            source   | text! | slug of the source that uses the name; a slug with a * behind it: every source that starts so; or *
            raw_name | text! | the name as the source writes it; case and punctuation do not matter
            chip_id  | text  | the chip, or blank for a name that must stay unmapped
            note     | text  | why
            """,
            {"chip_id": "chip"},
        ),
        _reference(
            "chip_pattern",
            "How a name that no alias lists says which chip it is. Names are split into tokens; every token must be known, so that a look-alike stays unmapped. The first pattern in order that fits, memory included, wins.",
            "pattern_order",
            """
            pattern_order | int!  | order of trial, most specific first
            family        | text! | token or tokens that name the chip, alternatives split by a bar
            form          | text  | token that names its form, alternatives split by a bar; blank: the name has none
            needs_memory  | bool! | fits only where name or source state the memory of one chip
            chip_id       | text! | the chip; its accepted memory must hold what is stated
            note          | text  | why
            """,
            {"chip_id": "chip"},
        ),
        _reference(
            "runner_word",
            "A word in the name of a benchmark runner that says nothing of its chip: a cluster, a scheduler, an engine. A number behind such a word says nothing either. Only names of benchmark sources are freed of them.",
            "word",
            """
            word | text! | one token, letters and digits
            note | text  | what it stands for
            """,
        ),
        _reference(
            "price_band",
            "What a GPU-hour of a chip can plausibly cost; a price outside is rejected, never clamped.",
            "chip_id price_type",
            f"""
            chip_id                  | text!  | the chip
            price_type               | text!  | the price type, or * for all [one of: *, {PRICE_TYPES}]
            low_usd_per_gpu_hour     | price! | lowest plausible price
            high_usd_per_gpu_hour    | price! | highest plausible price
            source                   | text!  | where the band comes from
            """,
            {"chip_id": "chip"},
        ),
        _reference(
            "provider",
            "Who rents chips out or sells tokens.",
            "provider_id",
            """
            provider_id      | text! | canonical key, as sources write it in `provider`
            provider_name    | text! | name for people
            provider_class   | text! | what it is [one of: hyperscaler, neocloud, marketplace, reseller, aggregator, model_developer]
            segment          | text  | segment of the rental index [one of: specialist, hyperscaler]
            reference_region | text  | the region whose prices stand for the provider; blank where one price holds everywhere
            homepage         | text  | its site
            """,
        ),
        _reference(
            "model",
            "A language model.",
            "model_id",
            """
            model_id                     | text!    | canonical key
            model_name                   | text!    | name for people
            developer                    | text     | who made it
            parameters_b                 | positive | total parameters in billions
            active_parameters_prefill_b  | positive | parameters active while reading, billions
            active_parameters_decode_b   | positive | parameters active while writing, billions
            kv_bytes_per_token           | positive | bytes of KV cache per token
            context_tokens               | count    | longest context in tokens
            released                     | text     | release date as precisely as the source states it
            source                       | text     | where the figures come from
            note                         | text     | remarks
            """,
        ),
        _reference(
            "model_alias",
            "A name that a publisher or provider uses for a model. A name that moves from model to model is none: a blank model_id keeps it so, and its note says why.",
            "source raw_name",
            """
            source   | text! | slug of the source that uses the name; a slug with a * behind it: every source that starts so; or *
            raw_name | text! | the name as the source writes it
            model_id | text  | the model, or blank for a name that must stay unmapped
            note     | text  | why
            """,
            {"model_id": "model"},
        ),
        _reference(
            "workload",
            "What a request looks like; the conditions that make two figures comparable.",
            "workload_id",
            """
            workload_id           | text!    | key, as benchmark rows write it in `workload`
            workload_name         | text!    | name for people
            input_tokens          | positive | input tokens per request, cached or not
            cached_input_tokens   | number   | of these, tokens read from a cache; 0: none is
            uncached_input_tokens | positive | of these, tokens computed
            output_tokens         | positive | output tokens per request
            mix_class             | text     | how the split into cached and uncached came about; blank: there is none [one of: stated, derived, assumed]
            context_tokens        | positive | tokens held in the KV cache by one session
            ranked                | bool!    | whether the headline compares chips on it
            source                | text     | where the figures come from
            note                  | text     | remarks
            """,
        ),
        _reference(
            "fact_source",
            "A publisher whose facts stand in seeds/<row kind>/<source>.csv; the same declaration that a fetched source makes in code.",
            "source",
            """
            source       | text! | the file's name without .csv
            kind         | text! | what it holds [one of: rental, benchmark, token_price, index, correction]
            title        | text! | who published what
            homepage     | text  | where
            licence      | text! | licence or terms, in words
            passes_on    | bool! | whether its rows may be published
            cadence      | text! | how often it changes
            source_rank  | int!  | smaller wins where two sources state the same thing
            max_age_days | count! | how long a value may be carried as a price after it was last seen
            """,
        ),
        _reference(
            "price_series",
            "A published price series that costs may be computed on: an index, or constants of a cost model. Providers' own prices become series by themselves.",
            "index_name",
            """
            index_name       | text! | the series, as rental_index_value rows name it
            title            | text! | name for people
            price_basis      | text! | what it is [one of: published_index, owning_cost_model, rent_model, own_contract]
            segment          | text  | segment it describes [one of: specialist, hyperscaler]
            max_age_days     | count | days that a value holds after its date; blank: until superseded
            withdrawn_on     | date  | day from which its publisher keeps it no longer; no value stands from then on
            headline_order   | count | order beside the headline; blank: not shown there
            passes_on        | bool! | whether its values may be published
            source           | text! | method and publisher
            """,
        ),
        _reference(
            "hardware_factor",
            "What a publisher says its measured figure becomes on a named chip; multiplies throughput at fixed speed.",
            "publisher point_label_prefix to_chip_id",
            """
            publisher          | text!     | publisher of the points that it applies to
            point_label_prefix | text!     | points whose label starts so
            from_chip_id       | text!     | chip of those points
            to_chip_id         | text!     | chip that the factor leads to
            factor             | positive! | throughput on the target / throughput of the point
            known_at           | instant!  | when it was published
            source             | text!     | the figures behind it
            """,
            {"from_chip_id": "chip", "to_chip_id": "chip"},
        ),
        _reference(
            "live_traffic_factor",
            "Share of its benchmark throughput that live traffic reaches, as one report states it for one engine.",
            "publisher engine",
            """
            publisher | text!     | publisher of the points that it applies to
            engine    | text!     | engine of those points
            factor    | positive! | live throughput / benchmark throughput
            known_at  | instant!  | when it was published
            source    | text!     | who says so
            """,
        ),
        _reference(
            "speed_ceiling",
            "The fastest speed per user that a publisher says a server reaches; faster is unreachable on it.",
            "publisher point_label_prefix",
            """
            publisher                | text!     | publisher of the points that it bounds
            point_label_prefix       | text!     | points whose label starts so
            speed_ceiling_tok_s_user | positive! | tokens per second per user
            known_at                 | instant!  | when it was published
            source                   | text!     | who says so
            """,
        ),
        _reference(
            "power_constant",
            "All-in power of one chip in a data centre, as a published cost model states it from a date on.",
            "chip_id valid_from known_at",
            """
            chip_id         | text!     | the chip
            power_kw_all_in | positive! | kW per chip, facility included
            valid_from      | date!     | since when the model uses it
            known_at        | instant!  | when it was published
            source          | text!     | where
            """,
            {"chip_id": "chip"},
        ),
        _reference(
            "stated_value",
            "A figure that a text states and that is neither price, point nor deck.",
            "stated_value_id",
            f"""
            stated_value_id | text!   | key
            subject         | text!   | what it is about
            metric          | text!   | what is measured
            value           | number! | the figure as stated
            unit            | text!   | its unit
            stated_on       | date    | day it holds for
            date_precision  | text!   | how precise that day is [one of: day, month, unknown]
            known_at        | instant! | when it was published
            value_class     | text!   | how it came about [one of: {STATED_CLASS}]
            source          | text!   | the text
            note            | text    | what a reader must know
            """,
        ),
        _reference(
            "role_ratio",
            "How many prefill GPUs serve one decode GPU at a point that states decode GPUs alone, as its publisher says.",
            "publisher point_label prefill_chip_id",
            """
            publisher                   | text!     | publisher of the point
            point_label                 | text!     | the point, by its publisher's name
            prefill_chip_id             | text      | chip of the prefill GPUs; blank: the same as for decode
            prefill_gpus_per_decode_gpu | positive! | prefill GPUs / decode GPUs
            known_at                    | instant!  | when it was published
            source                      | text!     | who says so
            note                        | text      | what a reader must know
            """,
            {"prefill_chip_id": "chip"},
        ),
        _reference(
            "revenue_statement",
            "Which point and which price deck a stated revenue per GPU-hour speaks of; with the tokens and GPUs of a fleet beside it, its cached share can be solved for.",
            "publisher point_label provider_id tier",
            """
            stated_value_id   | text! | the stated revenue, an average over all GPUs
            publisher         | text! | publisher of the point
            point_label       | text! | the point, by its publisher's name
            provider_id       | text! | whose prices it is reckoned at
            tier              | text! | which of them [one of: standard, peak, off_peak]
            tokens_per_day_id | text  | stated value: input and output tokens of the fleet a day
            fleet_gpus_id     | text  | stated value: GPUs of the fleet
            note              | text  | what it takes for granted
            """,
            {
                "stated_value_id": "stated_value",
                "provider_id": "provider",
                "tokens_per_day_id": "stated_value",
                "fleet_gpus_id": "stated_value",
            },
        ),
        _reference(
            "method_parameter",
            "A parameter of a published method; a changed value is a new version.",
            "method version parameter",
            """
            method    | text!   | the method
            version   | text!   | its version
            parameter | text!   | the parameter
            value     | number! | its value
            unit      | text!   | its unit
            reason    | text!   | why this value
            """,
        ),
        _reference(
            "disclosure_weight",
            "What a benchmark must state and what each part of it is worth, in points that sum to 100.",
            "version field",
            """
            version     | text!  | version of the method
            field       | text!  | what must be stated
            field_order | count! | order of the fields
            weight      | number! | points for stating it; half for stating part of it
            is_gate     | bool!  | where nothing of it is stated, the figure is never ranked
            whole       | text!  | what counts as stating it
            part        | text   | what counts as stating part of it; blank: there is no part
            """,
        ),
        _reference(
            "report",
            "A report that was read by a person and scored for what it states.",
            "report_id",
            """
            report_id    | text!    | key
            title        | text!    | its title, or what is known of it
            publisher    | text!    | who published it
            url          | text     | where
            published_on | date     | day of publication
            known_at     | instant! | when it was published
            """,
        ),
        _reference(
            "report_statement",
            "What a report states of a field of disclosure_weight; what no line says it does not state.",
            "report_id field",
            """
            report_id | text!   | the report
            field     | text!   | the field
            stated    | number! | 1 whole, 0.5 part
            quote     | text!   | the passage, in short
            """,
            {"report_id": "report"},
        ),
        _reference(
            "vote_weight",
            "What a provider's vote in an index weighs where it is not 1; a changed weight is a new version of the method. Without a row all weigh the same.",
            "method version provider_id",
            """
            method      | text!     | the method, as in method_parameter
            version     | text!     | its version
            provider_id | text!     | the provider; one that only a source declares counts as well
            weight      | positive! | its weight against that of another vote, which is 1 unless set
            source      | text!     | who says so
            note        | text      | why
            """,
        ),
        *(_reference(*shape) for shape in ASSUMPTION_SHAPES),
    )
}
