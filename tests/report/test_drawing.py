"""Charts: well-formed, inside their picture, the same each time, and at the place that the value says."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.report.drawing.axes import Key
from metapn.report.drawing.heat import heat_map
from metapn.report.drawing.intervals import Point, Row, interval_chart
from metapn.report.drawing.lines import Series, line_chart
from metapn.report.drawing.scale import Axis, Scale, round_values
from metapn.report.drawing.scatter import scatter
from metapn.report.drawing.svg import WIDTH

SVG = "{http://www.w3.org/2000/svg}"
finite = st.floats(-1e4, 1e4, allow_nan=False).map(lambda value: round(value, 3))


def starts(svg):
    """Where each path of a drawing starts or starts anew, and how high the drawing is."""
    root = ET.fromstring(svg)
    outlines = [element.get("d") for element in root.iter(f"{SVG}path")]
    places = [tuple(map(float, found)) for d in outlines for found in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", d)]
    assert len(places) >= len(outlines)
    return places, float(root.get("viewBox").split()[3])


def is_inside(svg):
    places, height = starts(svg)
    assert all(-1 <= x <= WIDTH + 1 and -1 <= y <= height + 1 for x, y in places)


@given(st.lists(st.lists(finite, min_size=1, max_size=6), max_size=12), st.booleans())
@settings(max_examples=50, deadline=None)
def test_lines_of_any_values_stay_inside(values, whiskers):
    series = [
        Series(f"<{i}>", range(len(y)), y, [each - 1 for each in y], [each + 1 for each in y], i)
        for i, y in enumerate(values)
    ]
    svg = line_chart(series, Axis("x"), Axis("a < b"), whiskers=whiskers)
    is_inside(svg)
    assert svg == line_chart(series, Axis("x"), Axis("a < b"), whiskers=whiskers)


@given(st.lists(finite, min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_rows_of_any_values_stay_inside(values):
    rows = [Row(f"{i} & more", [Point(0, value, value - 2, value + 2)]) for i, value in enumerate(values)]
    is_inside(interval_chart(rows, [Key("ours", 0)], Axis("accuracy")))


@given(st.integers(1, 40), st.integers(1, 17), st.floats(0.01, 1e3))
@settings(max_examples=25, deadline=None)
def test_maps_of_any_shape_stay_inside(n, n_classes, stretch):
    random = np.random.default_rng(n)
    places = random.normal(size=(n, 2)) * (stretch, 1)
    is_inside(scatter(places, random.integers(n_classes, size=n), [f"class {c}" for c in range(n_classes)]))


def test_a_mark_is_where_its_value_is():
    svg = line_chart([Series("a", [0, 5, 10], [0.0, 100.0, 50.0])], Axis("x", 0, 10), Axis("y", 0, 100))
    marks = [element for element in ET.fromstring(svg).iter(f"{SVG}path") if element.get("class") == "mark"]
    places = [tuple(map(float, re.findall(r"[\d.]+", mark.get("d"))[:2])) for mark in marks]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.1) and y2 == pytest.approx((y0 + y1) / 2, abs=0.1)
    assert y1 < y2 < y0  # up is more
    assert marks[1].find(f"{SVG}title").text == "a, 5: 100.00"


def test_series_differ_in_more_than_their_colour():
    series = [Series(f"{i}", [0, 1], [i, i + 1], style=i) for i in range(24)]
    root = ET.fromstring(line_chart(series, Axis("x"), Axis("y")))
    lines = [element for element in root.iter(f"{SVG}path") if "line" in element.get("class")][24:]
    looks = {(element.get("style"), element.get("stroke-dasharray")) for element in lines}
    assert len(looks) == len(lines) == 24
    same_colour = [element.get("stroke-dasharray") for element in lines if element.get("style").endswith("-0)")]
    assert len(same_colour) == len(set(same_colour)) == 3


def test_a_shade_says_how_far_from_one_a_ratio_is():
    svg = heat_map([("a", [1.0, 1.2]), ("b", [0.6, 0.9])], ["0", "1"], "hop", "degree")
    rects = list(ET.fromstring(svg).iter(f"{SVG}rect"))
    shades = [float(rect.get("fill-opacity")) for rect in rects]
    assert shades[0] == 0 and shades[1] == pytest.approx(shades[2] / 2, abs=0.001)
    assert shades[3] == pytest.approx(shades[2] / 4, abs=0.001)
    assert rects[1].get("style") != rects[2].get("style") == rects[3].get("style")


def test_hardly_any_difference_has_hardly_any_shade():
    svg = heat_map([("a", [1.001, 0.999])], ["0", "1"], "hop", "degree")
    assert all(float(rect.get("fill-opacity")) < 0.01 for rect in ET.fromstring(svg).iter(f"{SVG}rect"))


@given(finite, st.floats(1e-3, 1e4))
@settings(deadline=None)
def test_ticks_are_few_and_between_the_ends(low, span):
    ticks = round_values(low, low + span)
    assert 2 <= len(ticks) <= 6
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in ticks)


def test_a_scale_of_one_value_has_it_in_the_middle():
    scale = Scale.of(Axis("x"), [7.0], 0, 100)
    assert scale(7.0) == pytest.approx(50)
