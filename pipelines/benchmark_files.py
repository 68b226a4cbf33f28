"""Whose a benchmark file is: the tools told apart by their keys, so that a wrong file is refused by name.

Belongs here: what each kind of file is in words, the keys that prove it, and the source that reads it; also
of files that no source reads. Does not belong here: what the keys mean (each source), and the figures that
the tools have in common (`measured.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipelines.source import SourceError


@dataclass(frozen=True)
class Written:
    """A kind of file: what it is in words, the keys that prove it, the source that reads it, if any does."""

    what: str
    keys: frozenset[str]
    slug: str | None = None


def _written(what: str, keys: str, slug: str | None = None) -> Written:
    return Written(what, frozenset(keys.split()), slug)


# The first whose keys are all there.
KNOWN = (
    _written(
        "a line of SGLang's bench_serving",
        "backend total_output_tokens_retokenized duration completed output_throughput",
        "sglang_bench",
    ),
    _written(
        "a result of vLLM's serving benchmark",
        "date model_id num_prompts request_rate duration completed total_input_tokens request_throughput",
        "vllm_bench",
    ),
    _written("a run of genai-bench", "aggregated_metrics individual_request_metrics", "genai_bench"),
    _written(
        "the metadata of a genai-bench experiment",
        "benchmark_version api_backend traffic_scenario num_concurrency",
        "genai_bench",
    ),
    _written("a processed run of InferenceX", "hw infmax_model_prefix framework precision", "inferencex_run"),
    _written(
        "a summary of LLMPerf: API-provider speeds without hardware cannot be priced",
        "results_inter_token_latency_s_mean results_ttft_s_mean num_concurrent_requests",
    ),
    _written("an export of AIPerf", "request_latency output_sequence_length input_sequence_length", "aiperf"),
    _written("a report of GuideLLM", "benchmarks metadata", "guidellm"),
    _written("a stage of inference-perf", "load_summary successes failures", "inference_perf"),
    _written("a benchmark report of llm-d", "version run scenario results", "llmd_report"),
)


def refuse_others(slug: str, document: Any, place: str) -> bool:
    """Return whether a document is known as one that the source `slug` reads, or else not known at all.

    Raises SourceError, with what it is and which source reads it, for a file of another tool.
    """
    keys = document.keys() if isinstance(document, dict) else set()
    found = next((kind for kind in KNOWN if kind.keys <= keys), None)
    if found is not None and found.slug != slug:
        use = f"; import it as {found.slug}" if found.slug else ""
        raise SourceError(f"{place}: looks like {found.what}{use}")
    return found is not None


def refuse_all_but(slug: str, document: Any, place: str) -> None:
    """Raise SourceError for a document that is not known as one that the source `slug` reads."""
    if refuse_others(slug, document, place):
        return
    wanted = " or ".join(kind.what for kind in KNOWN if kind.slug == slug)
    shown = ", ".join(sorted(document)[:6]) if isinstance(document, dict) else ""
    raise SourceError(f"{place}: not {wanted}; it holds {shown or 'no keys'}")
