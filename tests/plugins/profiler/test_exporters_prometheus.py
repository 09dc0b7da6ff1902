"""The page for Prometheus is read by its own parser, and scraped by a real server."""

import urllib.error
import urllib.request

import lamella
import prometheus_client as client
import pytest
from lamella.profiler import exporters
from prometheus_client.parser import text_string_to_metric_families
from prometheus_server import prometheus

TIME = "lamella_operator_duration_seconds"


def page(handle):
    with urllib.request.urlopen(f"http://127.0.0.1:{handle.exporter.port}/metrics", timeout=30) as found:
        return {family.name: family.samples for family in text_string_to_metric_families(found.read().decode())}


def test_the_page():
    kinds = ["model", "le", "data set"]
    with exporters.export("prometheus", port=0, sampling=1.0, attributes=kinds) as handle:
        with lamella.profiler.debug_info("model", 'a "quoted"\nname'), lamella.profiler.debug_info("le", 1):
            for _ in range(3):
                lamella.ones(2)
        found = page(handle)
        port = handle.exporter.port
    of_ones = [s for s in found[TIME] if s.labels["name"] == "aten::ones"]
    labels = dict(of_ones[0].labels)
    del labels["le"]
    assert labels == {"name": "aten::ones", "scope": "function", "backend": "cpu", "dtype": "float32"} | {
        "model": 'a "quoted"\nname',
        "info_le": "1",
        "data_set": "",
    }
    buckets = [s.value for s in of_ones if s.name.endswith("_bucket")]
    assert buckets == sorted(buckets) and buckets[-1] == 3 and len(buckets) == 23
    assert [s.value for s in of_ones if s.name.endswith("_count")] == [3]
    assert [s.value for s in found["lamella_samples_recorded"]] == [3]
    assert {s.labels["reason"]: s.value for s in found["lamella_samples_dropped"]} == {"queue": 0, "series": 0}
    assert {s.labels["scope"]: s.value for s in found["lamella_sampling_probability"]} == dict.fromkeys(
        ("function", "backward_function", "user_scope"), 1.0
    )
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30)


def test_the_registry_of_a_program():
    registry = client.CollectorRegistry()
    with exporters.export("prometheus", registry=registry, sampling=1.0):
        lamella.ones(2)
        assert b"lamella_samples_recorded_total 1.0" in client.generate_latest(registry)
    assert client.generate_latest(registry) == b""


def test_a_registry_takes_one_export():
    registry = client.CollectorRegistry()
    with exporters.export("prometheus", registry=registry, sampling=1.0):
        with pytest.raises(ValueError, match="has Lamella's metrics, of another export"):
            exporters.export("prometheus", registry=registry)
        lamella.ones(2)
        assert client.generate_latest(registry).count(b"# TYPE lamella_operator_duration_seconds histogram") == 1
    exporters.export("prometheus", registry=registry).close()


def test_an_empty_value_and_none_are_one_histogram():
    registry = client.CollectorRegistry()
    with exporters.export("prometheus", registry=registry, sampling=1.0, attributes=["model"]):
        lamella.ones(2)
        for _ in range(2):
            with lamella.profiler.debug_info("model", ""):
                lamella.ones(2)
        with lamella.profiler.debug_info("model", "m"):
            lamella.ones(2)
        found = {f.name: f.samples for f in text_string_to_metric_families(client.generate_latest(registry).decode())}
    counts = [(s.labels["model"], s.value) for s in found[TIME] if s.name.endswith("_count")]
    assert sorted(counts) == [("", 3), ("m", 1)]
    buckets = [s.value for s in found[TIME] if s.labels["model"] == "" and s.name.endswith("_bucket")]
    assert buckets == sorted(buckets) and buckets[-1] == 3
    assert all(s.value > 0 for s in found[TIME] if s.name.endswith("_sum"))


def test_kinds_with_the_same_label():
    with pytest.raises(ValueError, match="the same labels"):
        exporters.export("prometheus", port=0, attributes=["a b", "a_b"])


def test_a_port_that_is_taken():
    with exporters.export("prometheus", port=0) as handle, pytest.raises(OSError):
        exporters.export("prometheus", port=handle.exporter.port)


def test_a_server_scrapes_it(tmp_path):
    with exporters.export("prometheus", port=0, sampling=1.0, attributes=["model"]) as handle:
        target = f"127.0.0.1:{handle.exporter.port}"
        config = f"""
        scrape_configs:
        - job_name: lamella
          scrape_interval: 200ms
          scrape_timeout: 200ms
          static_configs: [{{targets: ["{target}"]}}]
        """
        with lamella.profiler.debug_info("model", "m"):
            for _ in range(7):
                lamella.ones(2, dtype=lamella.float64)
        with prometheus(tmp_path, config) as server:
            [(labels, count)] = server.value(TIME + '_count{name="aten::ones"}').items()
            assert count == 7 and ("dtype", "float64") in labels and ("model", "m") in labels
            quantile = f"histogram_quantile(0.5, sum by (le) ({TIME}_bucket))"
            [median] = server.value(quantile).values()
            assert 0 < median < 10
            assert server.ask("/api/v1/targets")["activeTargets"][0]["health"] == "up"
