"""``SummaryWriter``: writes what a training measures into files that TensorBoard shows."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.plugins.text.summary_v2 import text_pb

import lamella.utils.tensorboard.embeddings as embeddings
import lamella.utils.tensorboard.pictures as pictures
import lamella.utils.tensorboard.summaries as summaries
from lamella.utils.tensorboard.files import FileWriter
from lamella.utils.tensorboard.images import ImageMethods
from lamella.utils.tensorboard.values import array, scalar, text


class SummaryWriter(ImageMethods):
    """Writes scalars, histograms, pictures and more into a folder, which ``tensorboard --logdir FOLDER`` shows.

    A value is a tensor of any real dtype, wherever it is and with or without gradient, a numpy array or a number; a
    tensor on device meta is refused. Each method takes ``global_step``, the place on the horizontal axis (0 by
    default), and ``walltime``, seconds since 1970 (now by default). Events are written on a thread of its own:
    ``flush`` waits for it. After ``close`` the next value begins a new file in the same folder.

    Args:
        log_dir: the folder; by default ``runs/`` and the time, the machine's name and ``comment``
        comment: the end of the default folder's name; without effect if log_dir is given
        purge_step: TensorBoard hides what earlier files of the folder have from this step on; for a resumed training
        max_queue: the number of events that may wait to be written
        flush_secs: the seconds after which written events are on the disk
        filename_suffix: the end of the names of the files

    >>> import tempfile
    >>> from lamella.utils.tensorboard import SummaryWriter
    >>> from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SummaryWriter(folder) as writer:
    ...         for step in range(3):
    ...             writer.add_scalar("loss", lamella.tensor(1 / 2**step), step)
    ...     [(event.step, event.value) for event in EventAccumulator(folder).Reload().Scalars("loss")]
    [(0, 1.0), (1, 0.5), (2, 0.25)]
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ):
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step = purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.all_writers: dict[str, FileWriter] = {}  # by folder: that of this writer, and those of add_scalars
        self._embeddings = ProjectorConfig()
        self._file(self.log_dir)

    # ---- files ----

    def _file(self, folder: str) -> FileWriter:
        """Returns the open file of a folder; begins it if there is none."""
        found = self.all_writers.get(folder)
        if found is None:
            found = self.all_writers[folder] = FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)
            if self.purge_step is not None and folder == self.log_dir:
                step, self.purge_step = self.purge_step, None
                found.add_event(Event(file_version="brain.Event:2"), step)
                found.add_event(Event(session_log=SessionLog(status=SessionLog.START)), step)
        return found

    def _add(self, summary: Summary, global_step: Any, walltime: float | None) -> None:
        self._file(self.log_dir).add_summary(summary, global_step, walltime)

    @property
    def file_writer(self) -> FileWriter | None:
        """The open file of ``log_dir``; None after ``close``."""
        return self.all_writers.get(self.log_dir)

    def get_logdir(self) -> str:
        """Returns the folder."""
        return self.log_dir

    def flush(self) -> None:
        """Returns when all values are in their files."""
        for file in self.all_writers.values():
            file.flush()

    def close(self) -> None:
        """Writes the values that wait, and closes the files."""
        for file in self.all_writers.values():
            file.close()
        self.all_writers = {}

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---- numbers ----

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Adds a number, which files hold as float32; with ``new_style`` as a tensor, which may be of float64.

        Raises:
            ValueError: the value has not one element
            TypeError: it is no real number, as of all methods
        """
        number = scalar(scalar_value, "add_scalar", "scalar_value")
        name = text(tag, "add_scalar", "tag")
        self._add(summaries.of_scalar(name, number, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Adds several numbers of one chart: each is a run of its own, ``log_dir/main_tag_tag``, under ``main_tag``."""
        for tag, value in tag_scalar_dict.items():
            number = scalar(value, "add_scalars", f"tag_scalar_dict[{tag!r}]")
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._file(folder).add_summary(summaries.of_scalar(main_tag, number, False, False), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Adds a tensor as it is; TensorBoard's pages do not show it, its reader returns it."""
        about = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="tensor"))
        found = array(tensor, "add_tensor", "tensor")
        self._add(summaries.of_tensor(text(tag, "add_tensor", "tag"), found, about), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Adds a histogram of the values; those that are not finite are left out with a warning.

        Args:
            bins: "tensorflow" for edges that grow by a tenth, or what ``numpy.histogram`` takes
            max_bins: the most bins; neighbours are joined

        Raises:
            ValueError: no value is finite, or the bins hold none of them
        """
        found = summaries.of_histogram(tag, array(values, "add_histogram", "values"), bins, max_bins)
        self._add(found, global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a histogram that was counted elsewhere: bucket i has ``bucket_counts[i]`` values up to
        ``bucket_limits[i]``.

        Raises:
            ValueError: there are not as many limits as counts
        """
        limits = array(bucket_limits, "add_histogram_raw", "bucket_limits")
        counts = array(bucket_counts, "add_histogram_raw", "bucket_counts")
        if limits.shape != counts.shape or limits.ndim != 1:
            raise ValueError(
                "add_histogram_raw: arguments 'bucket_limits' and 'bucket_counts' must be as long as each other, "
                f"got the shapes {limits.shape} and {counts.shape}"
            )
        self._add(summaries.of_buckets(tag, min, max, num, sum, sum_squares, limits, counts), global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a curve of precision and recall, at thresholds from 0 to 1 in equal steps.

        Args:
            labels: whether each element belongs to the class; 0 or 1
            predictions: its probability, of the shape of labels
            weights: how much each element counts; 1 by default

        Raises:
            ValueError: the shapes differ, or there are fewer than two thresholds
        """
        truth = array(labels, "add_pr_curve", "labels")
        guess = array(predictions, "add_pr_curve", "predictions")
        weight = None if weights is None else array(weights, "add_pr_curve", "weights")
        if truth.shape != guess.shape or (weight is not None and weight.shape not in ((), guess.shape)):
            raise ValueError(
                "add_pr_curve: arguments 'labels', 'predictions' and 'weights' must have one shape, got "
                f"{truth.shape}, {guess.shape} and {None if weight is None else weight.shape}"
            )
        _check_thresholds("add_pr_curve", num_thresholds)
        self._add(summaries.of_predictions(tag, truth, guess, num_thresholds, weight), global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a curve of precision and recall that was counted elsewhere; ``weights`` has no effect.

        Raises:
            ValueError: an argument has not ``num_thresholds`` elements
        """
        given = {
            "true_positive_counts": true_positive_counts,
            "false_positive_counts": false_positive_counts,
            "true_negative_counts": true_negative_counts,
            "false_negative_counts": false_negative_counts,
            "precision": precision,
            "recall": recall,
        }
        _check_thresholds("add_pr_curve_raw", num_thresholds)
        rows = [array(value, "add_pr_curve_raw", name) for name, value in given.items()]
        for name, row in zip(given, rows, strict=True):
            if row.shape != (num_thresholds,):
                raise ValueError(
                    f"add_pr_curve_raw: argument '{name}' must have the shape ({num_thresholds},), which "
                    f"'num_thresholds' says, got {row.shape}"
                )
        self._add(summaries.of_curve(tag, rows, num_thresholds), global_step, walltime)

    # ---- others ----

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Adds a sound of one channel, (L) or (1, L), with values from -1 to 1, cut at these.

        Raises:
            ValueError: it has another shape
        """
        sound = array(snd_tensor, "add_audio", "snd_tensor")
        if sound.size == 0 or sound.size != sound.shape[-1:][0]:
            raise ValueError(f"add_audio: argument 'snd_tensor' must have the shape (L) or (1, L), got {sound.shape}")
        self._add(summaries.of_audio(tag, sound.ravel(), sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Adds a text, which TensorBoard shows as Markdown, under ``tag/text_summary``."""
        name, content = text(tag, "add_text", "tag"), text(text_string, "add_text", "text_string")
        self._add(text_pb(f"{name}/text_summary", content), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Adds a run to the table of hyperparameters: its hyperparameters, and what it reached.

        Args:
            hparam_dict: bools, texts and numbers by name; a tensor of one element is a number
            metric_dict: numbers by tag
            hparam_domain_discrete: all values that a hyperparameter may have, by name
            run_name: the run's folder in log_dir; by default the time

        Raises:
            TypeError: an argument is no dictionary, or a hyperparameter is of another type
        """
        for argument, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            if not isinstance(given, dict):
                raise TypeError(f"add_hparams: argument '{argument}' must be a dict, got {type(given).__name__}")
        hparams = {
            name: value if isinstance(value, (bool, str)) else scalar(value, "add_hparams", f"hparam_dict[{name!r}]")
            for name, value in hparam_dict.items()
        }
        metrics = {tag: scalar(value, "add_hparams", f"metric_dict[{tag!r}]") for tag, value in metric_dict.items()}
        made = summaries.of_hparams(hparams, list(metrics), hparam_domain_discrete or {})
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        with SummaryWriter(folder, max_queue=self.max_queue, filename_suffix=self.filename_suffix) as run:
            for summary in made:
                run._add(summary, global_step, None)
            for tag, value in metrics.items():
                run.add_scalar(tag, value, global_step)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Adds points for the projector, as files of their own in a folder of this machine.

        Args:
            mat: (points, features)
            metadata: a label for each point, or a row of labels if there is a header
            label_img: (points, C, H, W), an image for each point
            metadata_header: the names of the columns of metadata

        Raises:
            ValueError: the arguments do not fit each other, or a label has a tab or an end of line in it
        """
        points = array(mat, "add_embedding", "mat")
        images = None if label_img is None else array(label_img, "add_embedding", "label_img")
        step = 0 if global_step is None else int(global_step)
        embeddings.write(self.log_dir, self._embeddings, points, metadata, metadata_header, images, step, tag)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: dict[str, Any] | None = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Adds points in space.

        Args:
            vertices: (B, N, 3), places
            colors: (B, N, 3), as uint8 from 0 to 255, as another dtype from 0 to 1
            faces: (B, M, 3), triangles as numbers of vertices
            config_dict: classes of three.js with their settings

        Raises:
            ValueError: one of them has another shape
        """
        places = _points(vertices, "vertices")
        corners = None if faces is None else _points(faces, "faces")
        paint = None if colors is None else pictures.pixels(_points(colors, "colors"), "add_mesh")
        self._add(summaries.of_mesh(tag, places, paint, corners, config_dict), global_step, walltime)

    def add_custom_scalars(self, layout: dict[str, dict[str, Sequence[Any]]]) -> None:
        """Adds a page of charts of several scalars: {category: {title: ["Multiline", tags]}}, or ["Margin", [value,
        lower, upper]].

        Raises:
            ValueError: a chart is of another kind
        """
        self._add(summaries.of_layout(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Adds one chart with a line for each tag; see ``add_custom_scalars``."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Adds one chart of a value between two others: tags of the value, the lower and the upper one."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Is refused: Lamella records no graphs of modules.

        Raises:
            NotImplementedError: always
        """
        raise NotImplementedError(
            "add_graph: Lamella records no graphs of modules, so there is none to show; leave the call out, or write "
            "the modules as a text: writer.add_text('model', str(model))"
        )

    def add_onnx_graph(self, prototxt: Any) -> None:
        """Is refused: Lamella reads no files of ONNX.

        Raises:
            NotImplementedError: always
        """
        raise NotImplementedError("add_onnx_graph: Lamella reads no files of ONNX; leave the call out")


def _points(value: Any, argument: str) -> np.ndarray:
    found = array(value, "add_mesh", argument)
    if found.ndim != 3 or found.shape[2] != 3:
        raise ValueError(f"add_mesh: argument '{argument}' must have the shape (batch, N, 3), got {found.shape}")
    return found


def _check_thresholds(who: str, num_thresholds: int) -> None:
    if isinstance(num_thresholds, bool) or not isinstance(num_thresholds, int) or num_thresholds < 2:
        raise ValueError(f"{who}: argument 'num_thresholds' must be an int of at least 2, got {num_thresholds!r}")
