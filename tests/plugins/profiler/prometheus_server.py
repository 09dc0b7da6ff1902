"""Runs a Prometheus server from Debian, for tests that have it scrape a page."""

import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, port):
        self.address = f"http://127.0.0.1:{port}"

    def ask(self, path, **query):
        with urllib.request.urlopen(f"{self.address}{path}?{urllib.parse.urlencode(query)}", timeout=10) as page:
            return json.load(page)["data"]

    def value(self, query, seconds=60):
        """Waits for the result of a query, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                if result := self.ask("/api/v1/query", query=query)["result"]:
                    return {tuple(sorted(r["metric"].items())): float(r["value"][1]) for r in result}
            time.sleep(0.1)
        pytest.fail(f"Prometheus has no result of {query} after {seconds} s: {self.ask('/api/v1/targets')}")


@contextlib.contextmanager
def prometheus(folder, config):
    """Runs a server with a configuration, as text."""
    program = shutil.which("prometheus")
    if not program:
        pytest.skip("prometheus is not installed: apt-get install prometheus")
    (folder / "prometheus.yml").write_text(config)
    port = free_port()
    options = (f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/series", "--log.level=error")
    with open(folder / "prometheus.log", "w") as log:
        server = subprocess.Popen([program, *options, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        yield Server(port)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(20)
