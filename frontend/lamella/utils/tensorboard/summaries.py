"""Arrays and numbers as the messages that TensorBoard's plugins read."""

from __future__ import annotations

import io
import json
import time
import warnings
import wave
from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.histogram_pb2 import HistogramProto
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as custom_metadata
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams import plugin_data_pb2 as hparams_data
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve import metadata as pr_metadata
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.util.tensor_util import make_tensor_proto

LEFT, FACTOR = 1e-12, 1.1  # the smallest edge above 0 of a default histogram, and the quotient of its edges


def of_tensor(tag: str, values: Any, metadata: SummaryMetadata) -> Summary:
    """Returns the summary of an array or a text for the plugin that the metadata names."""
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=make_tensor_proto(values))])


def of_scalar(tag: str, value: float, new_style: bool, double_precision: bool) -> Summary:
    """Returns the summary of a number: as ``simple_value``, a float32, or, in the new style, as a tensor."""
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=value)])
    number = np.float64(value) if double_precision else np.float32(value)
    return of_tensor(tag, number, scalar_metadata.create_summary_metadata(display_name="", description=""))


# ---- histograms ----


def default_edges() -> np.ndarray:
    """Returns edges that hold every float64: 0, powers of 1.1 from 1e-12 to 1e20 with both signs, and the largest."""
    steps = int(np.log(1e20 / LEFT) / np.log(FACTOR)) + 1
    positive = np.append(LEFT * FACTOR ** np.arange(steps), np.finfo(np.float64).max)
    return np.concatenate((-positive[::-1], [0.0], positive))


def of_histogram(tag: str, values: np.ndarray, bins: Any, max_bins: int | None) -> Summary:
    """Returns the summary of the values' histogram.

    Raises:
        ValueError: there is no finite value, or max_bins is below 1
    """
    who = "add_histogram"
    numbers = values.ravel().astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    if finite.size == 0:
        raise ValueError(f"{who}: argument 'values' has no finite element, its shape is {values.shape}")
    if finite.size < numbers.size:
        lost = numbers.size - finite.size
        warnings.warn(f"{who}: {lost} of {numbers.size} values of {tag!r} are not finite and left out", stacklevel=3)
    if max_bins is not None and max_bins < 1:
        raise ValueError(f"{who}: argument 'max_bins' must be at least 1, got {max_bins}")
    edges = default_edges() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = np.histogram(finite, edges)
    if max_bins is not None and len(counts) > max_bins:
        starts = np.arange(0, len(counts), -(-len(counts) // max_bins))
        counts, limits = np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])
    used = np.flatnonzero(counts)
    if used.size == 0:
        raise ValueError(f"{who}: argument 'bins' holds none of the values, which are {finite.min()} to {finite.max()}")
    first, end = used[0], used[-1] + 1  # empty bins at both ends are left out
    with np.errstate(over="ignore"):  # sums beyond float64 are infinite
        sum, squares = float(finite.sum()), float(finite @ finite)
    return of_buckets(
        tag, finite.min(), finite.max(), finite.size, sum, squares,
        limits[first : end + 1], [0, *counts[first:end]],
    )  # fmt: skip


def of_buckets(
    tag: str,
    min: float,
    max: float,
    num: float,
    sum: float,
    sum_squares: float,
    limits: Sequence[float] | np.ndarray,
    counts: Sequence[float] | np.ndarray,
) -> Summary:
    """Returns the summary of a histogram, whose bucket i holds ``counts[i]`` values up to ``limits[i]``."""
    histogram = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
        bucket_limit=[float(x) for x in limits], bucket=[float(n) for n in counts],
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, histo=histogram)])


# ---- curves of precision and recall ----


def of_predictions(
    tag: str, labels: np.ndarray, predictions: np.ndarray, thresholds: int, weights: np.ndarray | None
) -> Summary:
    """Returns the curve of labels and predictions: at each threshold, what is at least that large is positive."""
    positive, p = labels.ravel().astype(bool), predictions.ravel().astype(np.float64)
    weight = np.ones(p.size) if weights is None else np.broadcast_to(weights, predictions.shape).ravel()
    level = np.searchsorted(np.linspace(0, 1, thresholds), p, side="right")  # how many thresholds p reaches
    at_least = [
        np.bincount(level[which], weight[which], thresholds + 1)[::-1].cumsum()[::-1][1:]
        for which in (positive, ~positive)
    ]
    tp, fp = at_least
    fn, tn = weight[positive].sum() - tp, weight[~positive].sum() - fp
    precision = np.divide(tp, tp + fp, out=np.zeros(thresholds), where=tp + fp > 0)
    recall = np.divide(tp, tp + fn, out=np.zeros(thresholds), where=tp + fn > 0)
    return of_curve(tag, [tp, fp, tn, fn, precision, recall], thresholds)


def of_curve(tag: str, rows: list[np.ndarray], thresholds: int) -> Summary:
    """Returns the summary of true and false positives, true and false negatives, precision and recall."""
    about = pr_metadata.create_summary_metadata(display_name="", description="", num_thresholds=thresholds)
    return of_tensor(tag, np.stack(rows).astype(np.float32), about)


# ---- other plugins ----


def of_audio(tag: str, sound: np.ndarray, rate: int) -> Summary:
    """Returns a sound (L) with values from -1 to 1 as a file of WAV, 16 bits a sample."""
    samples = (np.nan_to_num(sound.astype(np.float64)).clip(-1, 1) * 32767).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate)
        wav.writeframes(samples.tobytes())
    audio = Summary.Audio(
        sample_rate=rate, num_channels=1, length_frames=len(samples), encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, audio=audio)])


def of_mesh(
    tag: str, vertices: np.ndarray, colors: np.ndarray | None, faces: np.ndarray | None, config: dict | None
) -> Summary:
    """Returns the summary of points in space, with colours and triangles if there are any."""
    kinds = (
        (MeshPluginData.VERTEX, vertices, np.float32),
        (MeshPluginData.FACE, faces, np.int32),
        (MeshPluginData.COLOR, colors, np.uint8),
    )
    given = [(kind, data.astype(dtype)) for kind, data, dtype in kinds if data is not None]
    mask = mesh_metadata.get_components_bitmask([kind for kind, _ in given])
    values = []
    for kind, data in given:
        about = mesh_metadata.create_summary_metadata(
            tag, "", kind, mask, data.shape, json_config=json.dumps(config or {}, sort_keys=True)
        )
        values += of_tensor(mesh_metadata.get_instance_name(tag, kind), data, about).value
    return Summary(value=values)


def of_layout(layout: dict[str, dict[str, Sequence]]) -> Summary:
    """Returns the layout of the page of custom scalars: {category: {title: [kind, tags]}}.

    Raises:
        ValueError: a kind is neither "Multiline" nor "Margin", or a margin has not three tags
    """
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise ValueError(f"add_custom_scalars: chart {title!r} needs value, lower and upper, got {tags}")
                value, lower, upper = tags
                series = layout_pb2.MarginChartContent.Series(value=value, lower=lower, upper=upper)
                made.append(layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            elif kind == "Multiline":
                made.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
            else:
                raise ValueError(
                    f"add_custom_scalars: chart {title!r} must be of kind 'Multiline' or 'Margin', got {kind!r}"
                )
        categories.append(layout_pb2.Category(title=category, chart=made))
    text = layout_pb2.Layout(category=categories).SerializeToString()
    return of_tensor(custom_metadata.CONFIG_SUMMARY_TAG, text, custom_metadata.create_summary_metadata())


def of_hparams(
    hparams: dict[str, Any], metrics: Sequence[str], discrete: dict[str, list[Any]]
) -> tuple[Summary, Summary, Summary]:
    """Returns the three summaries of a run with hyperparameters: which there are, its own values, and its end."""
    types = {bool: api_pb2.DATA_TYPE_BOOL, str: api_pb2.DATA_TYPE_STRING}
    infos = []
    for name, value in hparams.items():
        info = api_pb2.HParamInfo(name=name, type=types.get(type(value), api_pb2.DATA_TYPE_FLOAT64))
        if name in discrete:
            info.domain_discrete.extend(discrete[name])
        infos.append(info)
    named = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in metrics]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=named)
    end = hparams_data.SessionEndInfo(status=api_pb2.STATUS_SUCCESS, end_time_secs=time.time())
    return (
        _of_session(hparams_metadata.EXPERIMENT_TAG, hparams_data.HParamsPluginData(experiment=experiment)),
        hparams_pb(hparams, trial_id=""),
        _of_session(hparams_metadata.SESSION_END_INFO_TAG, hparams_data.HParamsPluginData(session_end_info=end)),
    )


def _of_session(tag: str, data: hparams_data.HParamsPluginData) -> Summary:
    about = hparams_metadata.create_summary_metadata(data)
    return Summary(value=[Summary.Value(tag=tag, metadata=about, tensor=hparams_metadata.NULL_TENSOR)])
