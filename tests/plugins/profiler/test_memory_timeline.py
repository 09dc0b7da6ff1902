"""``export_memory_timeline``: blocks by category, in torch's forms of files and as a page."""

import gzip
import json
import os
import re
import xml.etree.ElementTree as ET

import lamella
import numpy as np
import pytest
from browsers import Browser
from lamella.plugins.profiler import memory_export
from lamella.profiler import profile, record_function

pytestmark = pytest.mark.needs("autograd")

# torch's columns after the first, which is 0.
COLUMNS = ("parameter", "optimizer state", "input", "temporary", "activation", "gradient", "detail", "unknown")


def read(path):
    times, sizes = json.loads((gzip.decompress if path.suffix == ".gz" else bytes)(path.read_bytes()))
    return times, [dict(zip(COLUMNS, row[1:], strict=True)) for row in sizes]


@pytest.fixture
def recorded():
    """A profile with blocks of known sizes; what was there before is released within it."""
    old = lamella.ones(50_000)
    x = lamella.ones(1000, requires_grad=True)
    with profile(profile_memory=True) as prof:
        del old
        with record_function("forward"):
            y = x.exp()  # 4000 bytes
            z = (y * 3).sum()
        z.backward()
        del y
        made = lamella.empty(3000)  # 12000
        del made
    return prof, x


def test_blocks_by_category(recorded, tmp_path):
    prof, x = recorded
    prof.export_memory_timeline(tmp_path / "m.json", "cpu")
    times, sizes = read(tmp_path / "m.json")
    assert times == sorted(times) and len(times) == len(sizes) and all(min(row.values()) >= 0 for row in sizes)
    unused = ("parameter", "optimizer state", "input", "detail")
    assert all(row[name] == 0 for row in sizes for name in unused)
    # The gradient of x stays. Of the forward call, y stays until it is deleted, and the sum stays.
    assert sizes[-1]["gradient"] == 4 * 1000 and sizes[-1]["temporary"] == 0
    assert 0 < sizes[-1]["activation"] <= 2 * 64  # z, and the seed of backward
    assert max(row["activation"] for row in sizes) >= 12_000
    # The whole is that of the changes, without the release of what is older than the profile.
    changed = [(t, n) for t, device, n, _ in prof.memory_timeline() if device == "cpu:0" and n != -200_000]
    assert len(changed) == len(prof.memory_timeline()) - 1
    want = dict(zip([t for t, _ in changed], np.cumsum([n for _, n in changed]).tolist(), strict=True))
    assert dict(zip(times, [sum(row.values()) for row in sizes], strict=True)) == want


def test_what_a_call_gives_back_is_temporary(tmp_path):
    x = lamella.ones(64, 100)
    with profile(profile_memory=True, with_stack=True) as prof:
        with record_function("block"):
            y = lamella.nn.functional.cosine_similarity(x, x)
    calls = {e.name: e.time_range for e in prof.events()}
    prof.export_memory_timeline(tmp_path / "m.json.gz")
    times, sizes = read(tmp_path / "m.json.gz")
    assert sizes[-1]["activation"] == y.numel() * 4 and max(row["temporary"] for row in sizes) > 0
    assert sizes[-1]["temporary"] == 0 and "block" in calls


def test_raw_events(recorded, tmp_path):
    prof, _ = recorded
    prof.export_memory_timeline(tmp_path / "m.raw.json.gz")
    rows = json.loads(gzip.decompress((tmp_path / "m.raw.json.gz").read_bytes()))
    assert {action for _, action, _, _ in rows} == {2, 4}  # torch's Action.CREATE and Action.DESTROY
    assert all((n > 0) == (action == 2) for _, action, n, _ in rows)
    prof.export_memory_timeline(tmp_path / "m.json")
    times, sizes = read(tmp_path / "m.json")
    sums = np.zeros(8, int)
    for _, _, n, category in rows:
        sums[category] += n
    assert dict(zip(COLUMNS, sums.tolist(), strict=True)) == sizes[-1]
    assert rows[-1][0] == pytest.approx(times[-1] * 1000)


def test_the_page(recorded, tmp_path):
    prof, _ = recorded
    prof.export_memory_timeline(tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text()
    svg = ET.fromstring(re.search(r"<svg.*?</svg>", text)[0])
    legend = [t.text for t in svg.iter("text") if t.get("class") == "legend"]
    assert legend == ["activations", "gradients", "temporary", "unknown"] and len(list(svg.iter("polygon"))) == 4
    texts = [t.text for t in svg.iter("text")]
    assert any(t.endswith(" KB") for t in texts) and any(re.fullmatch(r"\d+ (ms|µs)", t) for t in texts)
    prof.export_memory_timeline(tmp_path / "m.json")
    most = max(sum(row.values()) for row in read(tmp_path / "m.json")[1])
    assert f"most since the profile began: {most / 1024:.4g} KB" in text
    assert not re.search(r"https?:|src=|href=|@import|url\(|<script", text)
    # The outline of the gradients ends as high as their bytes say, on the scale of the texts.
    ticks = [(float(t.get("y")) - 4, t.text) for t in svg.iter("text") if re.fullmatch(r"[\d.]+ KB", t.text)]
    (slope, offset) = np.polyfit([at for at, _ in ticks], [float(t.split()[0]) * 1024 for _, t in ticks], 1)
    corners = [tuple(map(float, p.split(","))) for p in list(svg.iter("polygon"))[1].get("points").split()]
    (_, high), (_, low) = corners[len(corners) // 2 - 1 : len(corners) // 2 + 1]  # there and back: the last time twice
    top, bottom = (slope * y + offset for y in (high, low))
    assert top - bottom == pytest.approx(4000, abs=200)


def test_the_default_device_allocated_memory(recorded):
    """An accelerator is not the device if a block that is older than the profile was only released."""
    prof, _ = recorded

    class Trace:
        def __init__(self, more):
            self.more = more

        def memory(self):
            return [*prof._read("the test").memory(), *self.more]

    old, new = (5, 1, -64, "gpu", 1, 0), (6, 2, 64, "gpu", 1, 0)
    assert [memory_export.choose(Trace(more), None) for more in ([], [old], [old, new])] == ["cpu:0", "cpu:0", "gpu:1"]
    assert memory_export.choose(Trace([old]), "gpu:1") == "gpu:1"


def test_bad_input_and_nothing_at_all(recorded, tmp_path):
    prof, _ = recorded
    with pytest.raises(ValueError, match="the profile has no memory of 'cpu:7'; it has that of cpu:0"):
        prof.export_memory_timeline(tmp_path / "m.json", "cpu:7")
    with profile() as without:
        pass
    with pytest.raises(RuntimeError, match="record it with profile_memory=True"):
        without.export_memory_timeline(tmp_path / "m.json")
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        profile(profile_memory=True).export_memory_timeline(tmp_path / "m.json")
    assert os.listdir(tmp_path) == []
    with profile(profile_memory=True) as empty:
        pass
    empty.export_memory_timeline(tmp_path / "m.html")
    empty.export_memory_timeline(tmp_path / "m.json")
    assert "No memory was allocated" in (tmp_path / "m.html").read_text()
    assert json.loads((tmp_path / "m.json").read_text()) == [[], []]


def test_a_long_timeline_keeps_its_peak(tmp_path):
    kept = []
    with profile(profile_memory=True) as prof:
        for i in range(4000):
            kept.append(lamella.empty(100))
            if i == 2345:
                large = lamella.empty(10_000_000)
                del large
            if len(kept) > 10:
                kept.pop(0)
    prof.export_memory_timeline(tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text()
    assert len(text) < 400_000 and "most since the profile began: 38.15 MB" in text
    svg = ET.fromstring(re.search(r"<svg.*?</svg>", text)[0])
    highest = min(float(p.split(",")[1]) for area in svg.iter("polygon") for p in area.get("points").split())
    assert highest == pytest.approx(10, abs=0.2)  # the top of the picture


def test_a_browser_shows_it(recorded, tmp_path):
    browser = Browser(tmp_path)
    recorded[0].export_memory_timeline(tmp_path / "m.html")
    document = browser.document(f"file://{tmp_path / 'm.html'}")
    assert document.count("<polygon") == 4 and "gradients" in document
