"""Exporters: measure a sample of all operators, and send the times to a system that monitors many processes.

``export`` starts an export and returns its handle. Native code writes the time of each sampled call to a queue of fixed
size, without a lock; a thread of the export gathers histograms and sends them. ``docs/exporters.md`` is the guide.

>>> import json, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> with lamella.profiler.exporters.export("jsonl", path=f"{folder.name}/times", sampling=1.0):
...     _ = lamella.ones(2) + 1
>>> rows = [json.loads(line) for line in open(f"{folder.name}/times")]
>>> sorted(row["name"] for row in rows if row["kind"] == "series")
['aten::add', 'aten::ones']
>>> folder.cleanup()
"""

from .batch import Batch, Counts, Exporter, Series, Source, Span
from .find import exporter_names
from .handle import Export, export

__all__ = ["Batch", "Counts", "Export", "Exporter", "Series", "Source", "Span", "export", "exporter_names"]
