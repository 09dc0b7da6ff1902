"""examples/fleet: the service runs and is scraped as its files say; its dashboard queries existing metrics."""

import importlib.util
import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import lamella
import pytest
from children import clean_environment, run
from lamella.profiler import exporters
from prometheus_server import prometheus

pytestmark = pytest.mark.needs("autograd")
FLEET = Path(__file__).resolve().parents[3] / "examples" / "fleet"
DASHBOARD = json.loads((FLEET / "dashboard.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
METRIC = re.compile(r"\blamella_\w+")


def scraped(address):
    with urllib.request.urlopen(address, timeout=30) as page:
        return page.read().decode()


@pytest.fixture(scope="module")
def service():
    """Runs the service; yields the address of its page."""
    options = ("--port", "0", "--seconds", "300", "--sampling", "0.5")
    command = [sys.executable, str(FLEET / "service.py"), *options]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environment(), text=True)
    try:
        address = running.stdout.readline().split()[-1]
        end = time.monotonic() + 60
        while not all(f'model="{model}",name="request"' in scraped(address) for model in ("ranker", "tagger")):
            assert running.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        yield address
    finally:
        running.kill()
        running.wait(20)


def test_the_dashboard_is_one_of_grafanas():
    kinds = {"uid": str, "title": str, "schemaVersion": int, "panels": list, "time": dict, "templating": dict}
    assert all(isinstance(DASHBOARD[key], kind) for key, kind in kinds.items())
    places, ids = set(), set()
    for panel in DASHBOARD["panels"]:
        assert panel["type"] in ("timeseries", "table") and panel["title"] and panel["fieldConfig"]["defaults"]["unit"]
        at = panel["gridPos"]
        area = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert area and not area & places and max(x for x, _ in area) < 24
        places |= area
        ids.add(panel["id"])
        references = [target["refId"] for target in panel["targets"]]
        assert references and len(set(references)) == len(references)
    assert len(ids) == len(DASHBOARD["panels"])
    variables = {v["name"] for v in DASHBOARD["templating"]["list"]}
    text = json.dumps(DASHBOARD)
    used = set(re.findall(r"\$\{?([a-z]\w*)", text))
    assert used == variables


def test_each_query_names_metrics_of_the_page(service):
    found = set(METRIC.findall(scraped(service)))
    assert len(QUERIES) >= 8
    for query in QUERIES:
        assert METRIC.findall(query) and set(METRIC.findall(query)) <= found, query


def test_a_server_answers_the_dashboards_queries(service, tmp_path):
    """The server has the example's configuration, with another address and a shorter interval."""
    config = (FLEET / "prometheus.yml").read_text()
    address = service.removeprefix("http://").partition("/")[0]
    assert "127.0.0.1:9464" in config and "scrape_interval: 15s" in config
    config = config.replace("127.0.0.1:9464", address).replace("15s", "300ms\n    scrape_timeout: 300ms")
    with prometheus(tmp_path, config) as server:
        for query in QUERIES:
            result = server.value(query.replace("$model", ".*").replace("$__rate_interval", "1m"))
            assert result and all(value >= 0 for value in result.values()), query


def estimate(title):
    """Returns a panel's query without rate(), over counts since the start."""
    [query] = [p["targets"][0]["expr"] for p in DASHBOARD["panels"] if p["title"] == title]
    return re.sub(r"rate\((.*?)\[\$__rate_interval\]\)", r"\1", query).replace("$model", ".*")


def test_processes_that_sample_differently_are_estimated_each_by_its_own(tmp_path):
    """One process samples all calls, the other a tenth; both make as many, so the estimate is twice that."""
    calls = 20_000
    pages = [{"port": 0, "attributes": ["model"], "sampling": p, "queue": 1 << 16} for p in (1.0, 0.1)]
    x = lamella.ones(1)
    with exporters.export("prometheus", **pages[0]) as one, exporters.export("prometheus", **pages[1]) as other:
        for _ in range(calls):
            x.neg()
        targets = ", ".join(f'"127.0.0.1:{handle.exporter.port}"' for handle in (one, other))
        config = f"""
        scrape_configs:
        - job_name: lamella
          scrape_interval: 300ms
          scrape_timeout: 300ms
          static_configs: [{{targets: [{targets}]}}]
        """
        with prometheus(tmp_path, config) as server:
            assert server.value("sum(up) == 2")
            found = server.value(estimate("Operators that are called most"))
    deviation = (calls * 0.1 * 0.9) ** 0.5 / 0.1
    assert abs(found[("name", "aten::neg"),] - 2 * calls) < 6 * deviation


def test_a_request_that_fails_ends_the_service(monkeypatch):
    spec = importlib.util.spec_from_file_location("fleet_service", FLEET / "service.py")
    service = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(service)

    def broken(request, model, rows):
        raise KeyError(model)

    monkeypatch.setattr(service, "answer", broken)
    with pytest.raises(KeyError):
        service.serve(60, 2)


def test_the_service_ends(tmp_path):
    said = run(sys.executable, FLEET / "service.py", "--port", "0", "--seconds", "1", cwd=tmp_path)
    ended = re.fullmatch(r"metrics: .*\n(\d+) requests, (\d+) samples, (\d+) dropped\n", said)
    requests, samples, dropped = map(int, ended.groups())
    assert requests > 0 and samples > requests and dropped == 0
