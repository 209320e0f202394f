"""The numbers as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from .measures import Measure
from .running import Samples

HEAD = "| what | unit | Pygent | floor | ratio | aim |\n|---|---|---:|---:|---:|---|"


def table(measures: Iterable[Measure], samples: Samples) -> str:
    """Return a line for each row: medians, with the least and the most in brackets."""
    lines = [HEAD]
    for measure in measures:
        for row in measure.rows:
            ours = samples[row.ours][row.value]
            floor = samples[row.floor][row.value] if row.floor else None
            ratio = "" if not floor else f"{median(ours) / median(floor):.2f}"
            cells = (row.text, row.unit, spread(ours), spread(floor), ratio, row.aim)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def spread(values: list[float] | None) -> str:
    """Return the median, and the least and the most where they differ from it."""
    if not values:
        return ""
    middle, least, most = (_short(f(values)) for f in (median, min, max))
    return middle if least == most else f"{middle} ({least} to {most})"


def _short(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
