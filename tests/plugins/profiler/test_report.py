"""The page of a profile: self-contained, true to the profile, and shown by a browser."""

import html.parser
import json
import os
import re
from pathlib import Path

import lamella
import pytest
from browsers import Browser
from compiled import compile_library
from lamella.plugins.profiler import report
from lamella.profiler import profile, record_function

HERE = Path(__file__).parent


def made(path, name='a </script> "block" & more'):
    x = lamella.ones(30, 30, requires_grad=True)
    with profile(profile_memory=True) as prof:
        for _ in range(5):
            with record_function(name):
                (x @ x).relu().sum().backward()
    prof.add_metadata("model", "<b>small</b>")
    prof.export_html(path)
    return prof


def made_with_a_device(host, library, path):
    host.run(
        """
        import ctypes, sys
        import lamella
        from lamella.profiler import profile, record_function

        lamella.ops.load_library(sys.argv[1])
        hook = ctypes.CDLL(sys.argv[1])
        hook.launch.restype, hook.time_now.restype = ctypes.c_uint64, ctypes.c_int64
        hook.done.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int32] + [ctypes.c_int64] * 3
        x = lamella.ones(30, 30, requires_grad=True)
        with profile(profile_memory=True) as prof:
            with record_function('a </script> "block" & more'):
                numbers = hook.launch(), hook.launch()
                (x @ x).sum().backward()
            now = hook.time_now()
            for number, begin, took in zip(numbers, (1_000_000, 6_000_000), (2_000_000, 3_000_000)):
                hook.done(number, b"work", 0, 0, now + begin, now + begin + took, 0)
        prof.export_html(sys.argv[2])
        """,
        str(library),
        str(path),
    )


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.script, self.scripts = [], None, []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.script = dict(attributes).get("type", "js") if tag == "script" else None

    def handle_endtag(self, tag):
        self.script = None

    def handle_data(self, text):
        if self.script:
            self.scripts.append((self.script, text))


def test_it_needs_nothing_else_and_says_what_the_profile_says(tmp_path):
    prof = made(tmp_path / "p.html")
    text = (tmp_path / "p.html").read_text()
    page = Page()
    page.feed(text)
    assert not any({"src", "href"} & set(attributes) for _, attributes in page.tags)
    assert not re.search(r"https?:|@import|url\(|fetch\(", text)
    (data,) = [json.loads(t) for kind, t in page.scripts if kind == "application/json"]
    sums = {row["name"]: row for row in data["rows"]}
    for e in prof.key_averages():
        assert sums[e.key]["count"] == e.count and sums[e.key]["self"] == pytest.approx(e.self_cpu_time_total)
    assert len(data["events"]) == len(prof.events()) and ["model", "<b>small</b>"] in data["facts"]
    assert data["memory"][-1][1] == prof.memory_timeline()[-1][3]
    names = [data["names"][event[0]] for event in data["events"]]
    assert names.count('a </script> "block" & more') == 5
    assert os.listdir(tmp_path) == ["p.html"]


def test_long_profiles_are_thinned_without_losing_peaks():
    points = [(float(i), 10_000 if i == 77_777 else i % 7) for i in range(100_000)]
    kept = report.thinned(points)
    assert len(kept) <= report.MOST_POINTS + 2 and (77_777.0, 10_000) in kept and kept == sorted(kept)


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError):
        made(path)
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        profile().export_html(tmp_path / "x")


def test_a_browser_shows_it(host, tmp_path, tmp_path_factory):
    """The profile has rows of a device: the library of test_device_faults.py gives them."""
    browser = Browser(tmp_path)
    library = compile_library(tmp_path_factory, HERE / "device_hook.cpp", "-pthread")
    made_with_a_device(host, library, tmp_path / "p.html")
    page = Page()
    page.feed((tmp_path / "p.html").read_text())
    (data,) = [json.loads(t) for kind, t in page.scripts if kind == "application/json"]
    (stream,) = data["streams"]
    assert (stream["name"], stream["work"], stream["most"]) == ("cpu:0 stream 7", 2, 2)
    assert stream["busy"] == pytest.approx(5000, rel=0.1) and stream["idle"] == pytest.approx(3000, rel=0.1)
    # The device's work is in a table of its own; the one of operators has it by the operator that launched it.
    (kernel,) = data["kernels"]
    assert (kernel["name"], kernel["device"], kernel["count"]) == ("work", "cpu", 2)
    assert kernel["time"] == pytest.approx(stream["busy"])
    assert sum(row["device"] for row in data["rows"]) == pytest.approx(kernel["time"])
    assert "work" not in {row["name"] for row in data["rows"]}
    assert len(stream["gaps"]) == 1 and stream["queue"][-1][1] == 0 and "cpu:0 stream 7" in data["tracks"]
    page = f"file://{tmp_path / 'p.html'}"
    document = browser.document(page)
    assert 'data-ready="yes"' in document, document[-2000:]  # the script ran to its end
    rows = re.findall(r"<tr><td>(.*?)</td>", document)
    assert {"aten::mm", "work", "cpu:0 stream 7"} <= set(rows) and 'a &lt;/script&gt; "block" &amp; more' in rows
    for name in ("timeline", "queues", "memory"):  # each picture has a scale of times, in equal steps
        (canvas,) = re.findall(rf'<canvas id="{name}".*?>', document)
        texts = re.search('data-times="(.*?)"', canvas)[1].split("|")
        numbers = [float(text.split()[0]) for text in texts]
        assert {text.split()[1] for text in texts} == {"ms"} and 3 <= len(numbers) <= 12
        steps = [b - a for a, b in zip(numbers, numbers[1:], strict=False)]
        assert steps == pytest.approx([steps[0]] * len(steps)) and steps[0] > 0
        begin, end = data["events"][0][1] / 1000, max(e[1] + e[2] for e in data["events"]) / 1000
        assert begin - 1e-3 <= numbers[0] and numbers[-1] <= end + 1e-3
        assert max(numbers[0] - begin, end - numbers[-1]) <= steps[0] * 1.001
    texts = re.search('data-bytes="(.*?)"', canvas)[1].split("|")
    assert 2 <= len(texts) <= 9 and "0 B" in texts and any(text.endswith((" KB", " MB")) for text in texts)
    picture = browser.picture(page)
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(set(picture)) > 200
