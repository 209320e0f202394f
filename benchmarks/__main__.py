"""The command line: ``python -m benchmarks --help``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .machine import facts
from .measures import measures
from .plot import draw_steps
from .running import ROOT, Samples, run
from .table import table

DOCUMENT = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "assets" / "steps.svg"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def main() -> None:
    """Measure, print the table, and keep it."""
    options = _options()
    chosen = [m for m in measures(quick=options.quick) if m.name in options.only]
    samples = run((c for m in chosen for c in m.cases), options.rounds, _tell)
    text = f"{facts(options.rounds)}\n\n{table(chosen, samples)}\n"
    print(text, end="")
    _keep(options.results, text, samples)
    if options.write_docs:
        write_docs(text, samples)


def write_docs(text: str, samples: Samples, document: Path = DOCUMENT) -> None:
    """Put the numbers between their marks in the document, and draw its picture anew."""
    before, begin, rest = document.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{document} has no {BEGIN} and {END}: put them where the numbers go")
    document.write_text(f"{before}{begin}\n\n{text}\n{end}{after}")
    if not draw_steps(samples, PICTURE):
        raise SystemExit("the table is written, the picture is not: it needs matplotlib")


def _options() -> argparse.Namespace:
    names = [measure.name for measure in measures()]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.description = "Measure what Pygent costs beside a bare floor. Nothing passes or fails."
    parser.add_argument(
        "--only", action="append", choices=names, help="measure only this; may be repeated"
    )
    parser.add_argument("--rounds", type=int, help="how often each thing is measured (default 5)")
    parser.add_argument("--quick", action="store_true", help="tiny numbers: see that it works")
    parser.add_argument(
        "--results", type=Path, default=ROOT / "benchmarks" / "results", help="where it is kept"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="put table and plot into the documentation"
    )
    options = parser.parse_args()
    if options.write_docs and (options.quick or options.only):
        parser.error("--write-docs needs the whole: leave out --quick and --only")
    if options.rounds is None:
        options.rounds = 1 if options.quick else 5
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: give at least 1")
    options.only = options.only or names
    return options


def _keep(folder: Path, text: str, samples: Samples) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(text)
    (folder / "samples.json").write_text(json.dumps(samples, indent=1) + "\n")
    if draw_steps(samples, folder / "steps.svg"):
        _tell(f"kept in {folder}: table.md, samples.json, steps.svg")
    else:
        _tell(f"kept in {folder}: table.md, samples.json")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
