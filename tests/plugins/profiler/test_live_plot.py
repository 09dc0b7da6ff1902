"""``LivePlot``: a page of HTML with curves, written as a whole while a training runs, and shown by a browser."""

import math
import os
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET

import lamella
import numpy as np
import pytest
from browsers import Browser
from children import clean_environment
from lamella.plugins.profiler.drawing import Scale, bytes_text
from lamella.plugins.profiler.live_plot import MOST_BUCKETS, Curve
from lamella.profiler import LivePlot


def pictures(path):
    """Returns the pictures of a page by their titles."""
    found = [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", path.read_text())]
    return {svg.find("title").text: svg for svg in found}


def points(svg):
    """Returns the corners of the curves of a picture, each an array."""
    return [np.array([p.split(",") for p in line.get("points").split()], float) for line in svg.iter("polyline")]


def scale(svg, horizontal):
    """Returns the places and the values of an axis' texts."""
    texts = [t for t in svg.iter("text") if t.get("text-anchor") == ("middle" if horizontal else "end")]
    pairs = [(float(t.get("x" if horizontal else "y")), t.text) for t in texts]
    return np.array([(at if horizontal else at - 4, float(text)) for at, text in pairs if re.match(r"-?[\d.]", text)])


def test_curves_lie_where_the_scales_say(tmp_path):
    steps, values = np.arange(200), np.exp(-np.arange(200) / 50) + 0.1
    with LivePlot(tmp_path / "p.html") as plot:
        for step, value in zip(steps, values, strict=True):
            plot.add_scalar("loss <x>", lamella.tensor(value, dtype=lamella.float64), lamella.tensor(int(step)))
    svg = pictures(tmp_path / "p.html")["loss <x>"]
    (curve,) = points(svg)
    for horizontal, given in ((True, steps), (False, values)):
        ticks = scale(svg, horizontal)
        assert 3 <= len(ticks) <= 12
        by_place = np.polyfit(ticks[:, 0], ticks[:, 1], 1)  # the axis, as its texts give it
        found = np.polyval(by_place, curve[:, 0 if horizontal else 1])
        np.testing.assert_allclose(found, given, atol=np.ptp(given) / 200)
    text = (tmp_path / "p.html").read_text()
    assert "loss &lt;x&gt;: " + f"{values[-1]:.6g} at step 199" in text and "<x>" not in text
    assert not re.search(r"https?:|src=|href=|@import|url\(", text) and os.listdir(tmp_path) == ["p.html"]


def test_logarithms_are_straight_for_powers(tmp_path):
    with LivePlot(tmp_path / "p.html", log=True) as plot:
        for step in range(50):
            plot.add_scalar("loss", 2.0**-step, step)
        plot.add_scalar("loss", -1.0)
    svg = pictures(tmp_path / "p.html")["loss"]
    (curve,) = points(svg)
    assert len(curve) == 50 and np.ptp(np.diff(curve[:, 1])) < 0.3
    ticks = scale(svg, False)
    assert all(math.log10(value).is_integer() for value in ticks[:, 1])
    by_place = np.polyfit(ticks[:, 0], np.log10(ticks[:, 1]), 1)
    np.testing.assert_allclose(np.polyval(by_place, curve[:, 1]), -np.arange(50) * math.log10(2), atol=0.1)


def test_several_curves_share_a_chart_and_gaps_are_gaps(tmp_path):
    with LivePlot(tmp_path / "p.html") as plot:
        for step in range(10):
            plot.add_scalars("acc", {"train": step, "test": float("nan") if step == 5 else step / 2})
        plot.add_scalar("one", 1.5)
        plot.add_scalar("none", float("inf"))
    found = pictures(tmp_path / "p.html")
    assert [len(line) for line in points(found["acc"])] == [10, 5, 4]
    assert len({line.get("stroke") for line in found["acc"].iter("polyline")}) == 2
    legend = [t.text for t in found["acc"].iter("text") if t.get("class") == "legend"]
    assert legend == ["train: 9 at step 9", "test: 4.5 at step 9"]
    assert len(list(found["one"].iter("circle"))) == 1
    assert [t.text for t in found["none"].iter("text")] == ["no values yet"]


@pytest.mark.parametrize("n", [1, MOST_BUCKETS, MOST_BUCKETS + 1, 100_003])
def test_long_curves_keep_their_peaks_evenly(n):
    curve = Curve()
    values = np.sin(np.arange(n) / 1000)
    values[n // 3], values[2 * n // 3] = 5, -7
    for step, value in enumerate(values):
        curve.add(step, value)
    (part,) = curve.parts(False)
    found = np.array(part)
    assert len(found) <= 2 * MOST_BUCKETS and (np.diff(found[:, 0]) > 0).all()
    np.testing.assert_array_equal(values[found[:, 0].astype(int)], found[:, 1])
    assert found[:, 1].max() == values.max() and found[:, 1].min() == values.min()
    assert np.diff(np.r_[-1, found[:, 0], n]).max() <= max(1, 5 * n / MOST_BUCKETS)


def test_the_page_is_renewed_by_time_and_is_whole_at_any_time(tmp_path):
    path, states, done = tmp_path / "p.html", [], threading.Event()

    def look():
        while not done.is_set():
            states.append(path.read_text())

    with LivePlot(path, interval=0.05) as plot:
        reader = threading.Thread(target=look)
        reader.start()
        end, step = time.monotonic() + 1, 0
        while time.monotonic() < end:
            plot.add_scalar("loss", 1 / (step + 1))
            step += 1
        done.set()
        reader.join()
        assert '<meta http-equiv="refresh" content="1">' in path.read_text()
    assert all(state.endswith("</body>\n</html>\n") for state in states)
    assert 3 <= len(set(states)) <= 25 < step  # at most one in each interval
    assert "refresh" not in path.read_text() and "finished" in path.read_text()
    assert f"at step {step - 1}" in path.read_text()


def test_bad_input(tmp_path):
    with LivePlot(tmp_path / "p.html", interval=100) as plot:
        before = (tmp_path / "p.html").read_bytes()
        for value, kind in (("a", ValueError), (lamella.ones(2), ValueError), (1j, TypeError), ([1], TypeError)):
            with pytest.raises(kind, match="LivePlot.add_scalar: the value of 'x' must be one real number"):
                plot.add_scalar("x", value)
        plot.add_scalar("x", 1)
        assert (tmp_path / "p.html").read_bytes() == before
    with pytest.raises(RuntimeError, match="LivePlot.add_scalar: the plot is closed; make another one"):
        plot.add_scalar("x", 1)
    with pytest.raises(ValueError, match="argument 'interval' must not be negative, got -1"):
        LivePlot(tmp_path / "q.html", interval=-1)
    with pytest.raises(OSError):
        LivePlot(tmp_path / "missing" / "p.html")


def test_a_training_outlives_its_page(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    plot = LivePlot(folder / "p.html", interval=0)
    (folder / "p.html").unlink()
    folder.rmdir()
    with pytest.warns(UserWarning, match="is not renewed") as warned:
        plot.add_scalar("x", 1)
        plot.add_scalar("x", 2)
    assert len(warned) == 1 and warned[0].filename == __file__
    with pytest.raises(OSError):
        plot.close()


@pytest.mark.parametrize("least, most", [(0, 1), (-3e-7, 2e-7), (17, 17), (1e6, 1e6 + 3), (-1e300, 1e300), (0, 99999)])
def test_ticks_are_round_and_within(least, most):
    axis = Scale(least, most, 0, 100)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 11 and all(axis.least - 1e-9 * abs(least) <= t <= axis.most * (1 + 1e-9) for t in ticks)
    step = ticks[1] - ticks[0]
    mantissa = step / 10.0 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(mantissa - m) for m in (1, 2, 5, 10)) < 1e-5
    assert [bytes_text(t) for t in Scale(0, 5 * 2**20, 0, 1, base=1024).ticks()] == [
        "0 B",
        *(f"{i} MB" for i in range(1, 6)),
    ]


def test_a_browser_shows_it(tmp_path):
    browser = Browser(tmp_path)
    with LivePlot(tmp_path / "p.html", title="Digits & more") as plot:
        for step in range(100):
            plot.add_scalars("loss", {"train": 1 / (step + 1), "test": 1.2 / (step + 1)})
    page = f"file://{tmp_path / 'p.html'}"
    document = browser.document(page)
    assert "<h1>Digits &amp; more</h1>" in document and document.count("<polyline") == 2
    picture = browser.picture(page)
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(set(picture)) > 200


def test_a_plot_that_nobody_closes_is_whole_when_the_program_ends(tmp_path):
    path = tmp_path / "losses.html"
    program = f"""
import lamella
plot = lamella.profiler.LivePlot({str(path)!r}, interval=1000)
for step in range(1000):
    plot.add_scalar("loss", step, step)
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=clean_environment())
    text = path.read_text()
    assert "<svg" in text and "step 999" in text and 'http-equiv="refresh"' not in text
