"""Draws the panels of a Grafana dashboard as one SVG, from the series that Prometheus returned.

    python panels.py         checks the drawing itself

It is not a copy of Grafana's look: it shows at their places which series a panel has, their values and their gaps.
"""

from __future__ import annotations

import math
import re
import sys
from html import escape

Json = dict
#: A series: its name in the legend, and its points by time.
Series = tuple[str, list[tuple[float, float]]]

#: Pixels of a unit of Grafana's grid, which is 24 units wide, and of what surrounds a plot.
UNIT_WIDTH, UNIT_HEIGHT = 50, 36
LEFT, TOP, RIGHT, LEGEND = 64, 30, 16, 102
COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#a6761d", "#666666")
MAX_LEGEND, MAX_NAME = 6, 18


def legend(template: str, labels: dict[str, str]) -> tuple[str, list[str]]:
    """The name of a series, and the labels of the template that it does not have."""
    wanted = re.findall(r"\{\{\s*(\w+)\s*\}\}", template)
    text = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda name: labels.get(name[1], ""), template)
    return text.strip(), [name for name in wanted if name not in labels]


def value_text(value: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "bytes":
        return f"{value / 1e6:.3g} MB" if value >= 1e6 else f"{value / 1e3:.3g} kB"
    suffix = {"s": " s", "ops": "/s", "reqps": "/s"}.get(unit, "")
    if unit == "s" and 0 < value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:,.0f}{suffix}" if value >= 1000 else f"{value:.3g}{suffix}"


def short(name: str) -> str:
    """The end of a name, which differs in routes, if it does not fit beside another."""
    return name if len(name) <= MAX_NAME else f"…{name[1 - MAX_NAME :]}"


def lines(points: list[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """The points in parts without gaps: a value that is not a number, or three times the usual distance, is a gap."""
    finite = [(at, value) for at, value in points if math.isfinite(value)]
    distances = sorted(later[0] - at[0] for at, later in zip(points, points[1:]))
    step = distances[len(distances) // 2] if distances else 0
    parts: list[list[tuple[float, float]]] = []
    for at, value in finite:
        if parts and at - parts[-1][-1][0] <= 1.5 * step:
            parts[-1].append((at, value))
        else:
            parts.append([(at, value)])
    return parts


def panel(place: Json, title: str, unit: str, found: list[Series], start: float, end: float) -> str:
    x, y = place["x"] * UNIT_WIDTH, place["y"] * UNIT_HEIGHT
    width, height = place["w"] * UNIT_WIDTH, place["h"] * UNIT_HEIGHT
    plot_width, plot_height = width - LEFT - RIGHT, height - TOP - LEGEND
    top = max((value for _, points in found for _, value in points if math.isfinite(value)), default=0) or 1
    parts = [
        f'<g transform="translate({x} {y})">',
        f'<rect x="3" y="3" width="{width - 6}" height="{height - 6}" class="panel"/>',
        f'<text x="12" y="22" class="title">{escape(title)}</text>',
    ]
    for share in (0, 0.5, 1):
        at = TOP + plot_height * (1 - share) + 6
        parts.append(f'<line x1="{LEFT}" x2="{width - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        shown = escape(value_text(top * share, unit))
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" class="axis">{shown}</text>')
    for number, (name, points) in enumerate(found):
        colour = COLOURS[number % len(COLOURS)]
        for part in lines(points):
            pixels = [
                (LEFT + plot_width * (at - start) / max(end - start, 1), TOP + plot_height * (1 - value / top) + 6)
                for at, value in part
            ]
            # A single point would not be seen as a line.
            pixels += [(pixels[0][0] + 2, pixels[0][1])] if len(pixels) == 1 else []
            path = " ".join(f"{across:.1f},{down:.1f}" for across, down in pixels)
            parts.append(f'<polyline points="{path}" stroke="{colour}"/>')
        if number < MAX_LEGEND:
            last = next((value for _, value in reversed(points) if math.isfinite(value)), None)
            shown = value_text(last, unit) if last is not None else "no value"
            across, down = 14 + number % 2 * (width - 20) / 2, TOP + plot_height + 30 + number // 2 * 18
            parts.append(f'<rect x="{across:.0f}" y="{down - 8:.0f}" width="9" height="9" fill="{colour}"/>')
            text = escape(f"{short(name)}: {shown}")
            parts.append(f'<text x="{across + 14:.0f}" y="{down:.0f}" class="name">{text}</text>')
    if len(found) > MAX_LEGEND:
        more = f"and {len(found) - MAX_LEGEND} more"
        parts.append(f'<text x="14" y="{TOP + plot_height + 86}" class="name">{more}</text>')
    if not any(lines(points) for _, points in found):
        parts.append(f'<text x="{width / 2}" y="{TOP + plot_height / 2}" class="none">no data</text>')
    return "".join([*parts, "</g>"])


def picture(dashboard: Json, found: dict[str, list[Series]], start: float, end: float) -> str:
    """All panels. `found` has the series of each panel by its title."""
    height = max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in dashboard["panels"]) * UNIT_HEIGHT
    drawn = [
        panel(one["gridPos"], one["title"], one["fieldConfig"]["defaults"].get("unit", "short"),
              found.get(one["title"], []), start, end)
        for one in dashboard["panels"]
    ]  # fmt: skip
    style = (
        "text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:13px}.axis{text-anchor:end;fill:#555}"
        ".name{font-size:11px}.none{text-anchor:middle;fill:#b00}.panel{fill:#fff;stroke:#ccc}.grid{stroke:#e5e5e5}"
        "polyline{fill:none;stroke-width:1.6}"
    )
    size = f'width="{24 * UNIT_WIDTH}" height="{height}" viewBox="0 0 {24 * UNIT_WIDTH} {height}"'
    background = f'<rect width="100%" height="{height}" fill="#f4f4f4"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{style}</style>{background}'
    return "\n".join([head, *drawn, "</svg>\n"])


def check() -> list[str]:
    place = {"x": 0, "y": 0, "w": 8, "h": 8}
    panels = [{"title": "A < B", "gridPos": place, "fieldConfig": {"defaults": {"unit": "s"}}}]
    nan = float("nan")

    def drawn(found: list[Series]) -> str:
        return picture({"panels": panels}, {"A < B": found}, 0, 4)

    two = drawn([("one", [(0, 1.0), (1, 2.0), (2, 1.0)]), ("two & three", [(0, 0.0), (1, 0.0), (2, nan), (3, 0.0)])])
    wanted = {
        "two series, one with a gap": two.count("<polyline") == 3,
        "the title, escaped": "A &lt; B" in two,
        "the name and the last value": "one: 1 s" in two and "two &amp; three: 0 s" in two,
        "the highest value at the top": f"{TOP + 6:.1f}" in two.split("<polyline")[1],
        "data": "no data" not in two,
        "a panel without data": "no data" in drawn([]) and "no data" in drawn([("a", [(0, nan)])]),
        "a single point": drawn([("a", [(0, 1.0)])]).count("<polyline") == 1,
        "what is left out": "and 2 more" in drawn([(str(number), [(0, 1.0)]) for number in range(8)]),
        "a long name": short("/api/sessions/{session_id}/close") == "…session_id}/close",
        "names": legend("{{kind}} {{result}}", {"kind": "title"}) == ("title", ["result"]),
        "units": [value_text(0.25, unit) for unit in ("percentunit", "s", "ops")] == ["25 %", "250 ms", "0.25/s"],
    }
    return [f"the drawing is wrong: {name}" for name, is_right in wanted.items() if not is_right]


if __name__ == "__main__":
    wrong = check()
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    sys.exit(1 if wrong else 0)
