"""What the shell completes and what a mistyped name is taken for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import tokenyield

from pipelines import completion
from pipelines.home import Home
from pipelines.source import all_sources


def completed(home: Home, *words: str) -> list[str]:
    """What a shell is offered for the last word, by the installed command."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("tokenyield"))],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "TOKENYIELD_HOME": str(home.root),
            "_TOKENYIELD_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["tokenyield", *words]),
            "COMP_CWORD": str(len(words)),
        },
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_a_slug_is_the_name_of_its_file():
    assert completion.sources("") == sorted(all_sources())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["rep"], ["reproduce"]),
        (["fetch", "oci"], ["oci_price_list"]),
        (["import", "mlperf"], ["mlperf_inference"]),
        (["cost", "--chip", "h200-s"], ["h200-sxm-141"]),
        (["cost", "--model", "deepseek-r1-0"], ["deepseek-r1-0528"]),
        (["cost", "--workload", "fixed-8192-"], ["fixed-8192-1024"]),
    ],
)
def test_the_shell_completes_names(words, offered, embedded_home):
    assert set(offered) <= set(completed(embedded_home, *words))
    assert all(name.startswith(words[-1]) for name in completed(embedded_home, *words))


def test_where_nothing_is_published_nothing_is_offered_and_nothing_said(tmp_path):
    assert completed(Home(tmp_path), "cost", "--chip", "h") == []


def test_a_mistyped_source_is_told_what_was_meant(tmp_path):
    done = tokenyield(tmp_path, "fetch", "oci_pricelist")
    assert done.returncode == 2
    assert "near it: oci_price_list" in " ".join(done.stderr.replace("│", " ").split())
