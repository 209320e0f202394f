"""A picture of what a step costs as the conversation grows; needs matplotlib."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

from .running import Samples

COLOURS = {"ours": "#2563eb", "floor": "#9ca3af"}
NAMES = {"ours": "Pygent", "floor": "floor"}


def draw_steps(samples: Samples, path: Path) -> bool:
    """Draw the plot; False if there is nothing to draw, or nothing to draw it with."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "pygent"
    mpl.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    points = _points(samples)
    if not points:
        return False
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for who, found in points.items():
        counts = sorted(found)
        middles = [median(found[count]) for count in counts]
        below = [m - min(found[count]) for m, count in zip(middles, counts, strict=True)]
        above = [max(found[count]) - m for m, count in zip(middles, counts, strict=True)]
        axes.errorbar(
            counts,
            middles,
            (below, above),
            label=NAMES[who],
            color=COLOURS[who],
            marker="o",
            capsize=3,
        )
    axes.set(xscale="log", xlabel="steps in the session", ylabel="CPU a step, ms")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    path.write_text(re.sub(r"[ \t]+$", "", path.read_text(), flags=re.MULTILINE))
    return True


def _points(samples: Samples) -> dict[str, dict[int, list[float]]]:
    """Return of each side, by the number of steps, what was measured."""
    points: dict[str, dict[int, list[float]]] = {}
    for key, values in samples.items():
        if key.startswith("steps/"):
            _, count, who = key.split("/")
            points.setdefault(who, {})[int(count)] = values["cpu_ms"]
    return points
