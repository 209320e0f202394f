"""Each measurement runs, with tiny numbers, and says what it is supposed to say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.measures import Measure, measures
from benchmarks.table import table

ROOT = Path(__file__).parents[2]
QUICK = measures(quick=True)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize("measure", QUICK, ids=lambda measure: measure.name)
def test_each_measurement_fills_its_rows(measure: Measure, tmp_path: Path) -> None:
    """Every value that the table wants was measured once a round, and is a sane number."""
    ran = run("--quick", "--only", measure.name, "--rounds", "1", "--results", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "samples.json").read_text())
    for row in measure.rows:
        for key in filter(None, (row.ours, row.floor)):
            (value,) = samples[key][row.value]
            assert 0 <= value < 1e6, (key, row.value)
        assert f"| {row.text} |" in ran.stdout
    assert (tmp_path / "table.md").read_text() == ran.stdout


def test_the_first_request_is_within_its_aim(tmp_path: Path) -> None:
    """What a model is sent first, the tools offered by default included, is at most 4 KB."""
    ran = run("--quick", "--only", "request", "--results", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "samples.json").read_text())
    assert 0 < samples["request"]["tools_bytes"][0] < samples["request"]["bytes"][0] <= 4096


def test_the_table_tells_medians_and_their_spread() -> None:
    """A row has our median, the floor's, and how many times the floor ours is."""
    (measure,) = (one for one in QUICK if one.name == "agents")
    values = {"cpu_s": [1.0, 3.0, 2.0], "wall_s": [1.0], "peak_mib": [1.0]}
    halves = {name: [one / 2 for one in some] for name, some in values.items()}
    text = table([measure], {"agents/ours": values, "agents/floor": halves})
    assert "| 2 (1 to 3) | 1 (0.50 to 1.50) | 2.00 |" in text


def test_the_document_is_written_between_its_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing the numbers down leaves the text around them as it is, also the second time."""
    monkeypatch.setattr(command, "draw_steps", lambda samples, path: True)
    document = tmp_path / "benchmarks.md"
    document.write_text(f"before\n\n{command.BEGIN}\nold\n{command.END}\n\nafter\n")
    command.write_docs("new\n", {}, document)
    command.write_docs("newer\n", {}, document)
    written = document.read_text()
    assert written == f"before\n\n{command.BEGIN}\n\nnewer\n\n{command.END}\n\nafter\n"


@pytest.mark.parametrize("words", [("--write-docs", "--quick"), ("--rounds", "0")])
def test_what_makes_no_sense_is_refused(words: tuple[str, ...]) -> None:
    """Tiny numbers never reach the documentation, and no round at all measures nothing."""
    ran = run(*words)
    assert ran.returncode == 2
    assert words[0] in ran.stderr


def test_the_document_has_its_marks() -> None:
    """`--write-docs` finds where the numbers go."""
    text = command.DOCUMENT.read_text()
    assert text.count(command.BEGIN) == text.count(command.END) == 1
