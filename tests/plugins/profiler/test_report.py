"""The page of a profile: self-contained, true to the profile, and shown by a browser."""

import html.parser
import json
import os
import re
import shutil
import subprocess

import lamella
import pytest
from lamella.plugins.profiler import report
from lamella.profiler import profile, record_function


def made(path, name='a </script> "block" & more'):
    x = lamella.ones(30, 30, requires_grad=True)
    with profile(profile_memory=True) as prof:
        for _ in range(5):
            with record_function(name):
                (x @ x).relu().sum().backward()
    prof.add_metadata("model", "<b>small</b>")
    prof.export_html(path)
    return prof


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


def test_a_browser_shows_it(tmp_path):
    browser = shutil.which("chromium")
    if not browser:
        pytest.skip("chromium is not installed: apt-get install chromium")
    made(tmp_path / "p.html")
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path / 'user'}",
        "--window-size=1100,900",
        "--virtual-time-budget=3000",
    ]
    page = f"file://{tmp_path / 'p.html'}"
    out = subprocess.run([browser, *options, "--dump-dom", page], capture_output=True, text=True, timeout=240)
    assert 'data-ready="yes"' in out.stdout, out.stderr[-2000:]  # the script ran to its end
    rows = re.findall(r"<tr><td>(.*?)</td>", out.stdout)
    assert "aten::mm" in rows and 'a &lt;/script&gt; "block" &amp; more' in rows
    picture = tmp_path / "p.png"
    subprocess.run([browser, *options, f"--screenshot={picture}", page], capture_output=True, timeout=240, check=True)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and len(set(picture.read_bytes())) > 200
