"""``SummaryWriter``: what TensorBoard's own reader finds in its files is what numpy counts."""

import inspect
import os
import socket
import struct
import subprocess
import sys
import time
import wave

import lamella
import numpy as np
import pytest
from children import OWN_PLUGINS, clean_environment
from lamella.utils.tensorboard import FileWriter, RecordWriter, SummaryWriter
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams import metadata as hparams
from tensorboard.plugins.mesh import metadata as mesh
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve import metadata as pr_curve
from tensorboard.util.tensor_util import make_ndarray


def read(folder):
    return EventAccumulator(str(folder), size_guidance={"histograms": 0, "images": 0, "tensors": 0}).Reload()


def numbers(folder, tag):
    return [(event.step, event.value) for event in read(folder).Scalars(tag)]


def array_of(folder, tag):
    (event,) = read(folder).Tensors(tag)
    return make_ndarray(event.tensor_proto)


@pytest.mark.needs("autograd")
def test_scalars_of_every_kind(tmp_path):
    given = [
        lamella.tensor(0.1), lamella.tensor([[0.1]], dtype=lamella.bfloat16), lamella.tensor(1.5, requires_grad=True),
        lamella.tensor(7), lamella.tensor(True), lamella.tensor(0.1, dtype=lamella.float64), np.float16(0.1),
        np.array([3]), 0.1, 2**40, True, float("inf"), lamella.tensor(0.3, dtype=lamella.float8_e4m3fn),
    ]  # fmt: skip
    with SummaryWriter(tmp_path) as writer:
        for step, value in enumerate(given):
            writer.add_scalar("a/b c", value, lamella.tensor(step) if step % 2 else step)
    tenth = np.float32(0.1)
    want = [tenth, 0.10009765625, 1.5, 7, 1, tenth, np.float16(0.1), 3, tenth, 2**40, 1, np.inf, 0.3125]
    assert numbers(tmp_path, "a/b c") == [(i, float(value)) for i, value in enumerate(want)]


def test_times_are_those_given_or_now(tmp_path):
    before = time.time()
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("x", 1, walltime=123.5)
        writer.add_scalar("x", 2, 1)
    first, second = read(tmp_path).Scalars("x")
    assert (first.wall_time, first.step) == (123.5, 0) and before <= second.wall_time <= time.time()


def test_the_new_style_is_a_tensor_that_the_scalars_plugin_shows(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("single", 0.1, new_style=True)
        writer.add_scalar("double", lamella.tensor(0.1, dtype=lamella.float64), new_style=True, double_precision=True)
    single, double = array_of(tmp_path, "single"), array_of(tmp_path, "double")
    assert (single, single.dtype) == (np.float32(0.1), np.float32) and (double, double.dtype) == (0.1, np.float64)
    assert read(tmp_path).SummaryMetadata("double").plugin_data.plugin_name == "scalars"


def test_several_scalars_are_runs_beside_each_other(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalars("run/loss", {"train": lamella.tensor(step * 2), "test": step * 3}, step)
        assert set(writer.all_writers) == {
            str(tmp_path),
            *(str(tmp_path / n) for n in ("run_loss_train", "run_loss_test")),
        }
    assert numbers(tmp_path / "run_loss_train", "run/loss") == [(0, 0), (1, 2), (2, 4)]
    assert numbers(tmp_path / "run_loss_test", "run/loss") == [(0, 0), (1, 3), (2, 6)]


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 7, [-3, -1, 0, 2.5, 3]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int16", "bool"])
def test_histograms_have_numpys_counts(bins, dtype, tmp_path):
    plain = np.random.default_rng(0).normal(size=(31, 7)).clip(-2.9, 2.9)
    tensor = lamella.from_numpy(plain).to(getattr(lamella, dtype))
    values = tensor.to(lamella.float64).numpy().ravel()
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", tensor, 5, bins=bins)
    (event,) = read(tmp_path).Histograms("h")
    found = event.histogram_value
    assert (event.step, found.num, found.min, found.max) == (5, values.size, values.min(), values.max())
    assert found.sum == pytest.approx(values.sum()) and found.sum_squares == pytest.approx((values**2).sum())
    limits, counts = found.bucket_limit, found.bucket
    assert counts[0] == 0 and counts[1] > 0 and counts[-1] > 0  # the first limit is the left end of the first values
    np.testing.assert_array_equal(counts[1:], np.histogram(values, limits)[0])
    if bins != "tensorflow":
        edges = np.histogram_bin_edges(values, bins)
        np.testing.assert_array_equal(limits, edges[np.isin(edges, limits)])
    else:
        positive = [x for x in limits if x > 0]
        np.testing.assert_allclose(np.divide(positive[1:], positive[:-1]), 1.1)


def test_histograms_of_unusual_values(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("large", np.array([-1e300, 0.0, 1e-300, 1e300]))
        with pytest.warns(UserWarning, match="2 of 4 values of 'nan' are not finite and left out") as warned:
            writer.add_histogram("nan", lamella.tensor([1.0, float("nan"), 2.0, float("-inf")]))
        assert warned[0].filename == __file__
        writer.add_histogram("few", np.arange(100.0), bins=50, max_bins=7)
        for bad in (np.array([]), lamella.tensor([float("nan")])):
            with pytest.raises(ValueError, match="add_histogram: argument 'values' has no finite element"):
                writer.add_histogram("bad", bad)
        with pytest.raises(ValueError, match="argument 'bins' holds none of the values, which are 1.0 to 1.0"):
            writer.add_histogram("bad", np.ones(3), bins=[5, 6])
        with pytest.raises(ValueError, match="'max_bins' must be at least 1, got 0"):
            writer.add_histogram("bad", np.ones(3), max_bins=0)
    found = {tag: read(tmp_path).Histograms(tag)[0].histogram_value for tag in ("large", "nan", "few")}
    assert (found["large"].sum, found["large"].sum_squares) == (0, np.inf)
    assert sum(found["large"].bucket) == 4 and found["large"].bucket[1] == found["large"].bucket[-1] == 1
    assert (found["nan"].num, found["nan"].min, found["nan"].max, found["nan"].sum) == (2, 1, 2, 3)
    assert len(found["few"].bucket) <= 8 and sum(found["few"].bucket) == 100
    np.testing.assert_array_equal(found["few"].bucket[1:], np.histogram(np.arange(100.0), found["few"].bucket_limit)[0])


def test_histograms_that_were_counted_elsewhere(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram_raw("h", 0, 3, 5, 8, 20, bucket_limits=[1, 2, 3], bucket_counts=lamella.tensor([2, 2, 1]))
        with pytest.raises(ValueError, match=r"as long as each other, got the shapes \(1,\) and \(2,\)"):
            writer.add_histogram_raw("h", 0, 3, 5, 8, 20, [1], [1, 2])
    found = read(tmp_path).Histograms("h")[0].histogram_value
    assert (found.min, found.max, found.num, found.sum, found.sum_squares) == (0, 3, 5, 8, 20)
    assert (list(found.bucket_limit), list(found.bucket)) == ([1, 2, 3], [2, 2, 1])


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_of_precision_and_recall(weighted, tmp_path):
    rng = np.random.default_rng(1)
    truth, guess = rng.integers(0, 2, (20, 5)), np.append(rng.random(96), [0, 1, 0.5, 0.25]).reshape(20, 5)
    weights = rng.random((20, 5)) if weighted else np.ones((20, 5))
    with SummaryWriter(tmp_path) as writer:
        given = (lamella.from_numpy(truth), lamella.from_numpy(guess))
        writer.add_pr_curve("pr", *given, num_thresholds=21, weights=weights if weighted else None)
        writer.add_pr_curve_raw("raw", *np.eye(6, 4, dtype=np.int64), num_thresholds=4)
    said = read(tmp_path).SummaryMetadata("pr").plugin_data
    assert said.plugin_name == "pr_curves" and pr_curve.parse_plugin_metadata(said.content).num_thresholds == 21
    yes = guess >= np.linspace(0, 1, 21)[:, None, None]
    true, false = weights * truth, weights * (1 - truth)
    tp, fp, tn, fn = ((m * w).sum((1, 2)) for m, w in ((yes, true), (yes, false), (~yes, false), (~yes, true)))
    found = array_of(tmp_path, "pr")
    np.testing.assert_allclose(found[:4], [tp, fp, tn, fn], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[4:], [tp / (tp + fp), tp / (tp + fn)], rtol=1e-5)
    np.testing.assert_array_equal(array_of(tmp_path, "raw"), np.eye(6, 4))


def test_texts_tensors_and_layouts(tmp_path):
    values = np.arange(6, dtype=np.int64).reshape(2, 3)
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("note", "**größer**\n\nthan 0", 4)
        writer.add_tensor("t", lamella.from_numpy(values))
        writer.add_custom_scalars({"c": {"both": ["Multiline", ["a", "b"]], "band": ["Margin", ["v", "l", "u"]]}})
        for chart, words in ((["Margin", ["v"]], "needs value, lower and upper"), (["Pie", ["v"]], "got 'Pie'")):
            with pytest.raises(ValueError, match=words):
                writer.add_custom_scalars({"c": {"x": chart}})
    found = read(tmp_path)
    assert found.Tensors("note/text_summary")[0].step == 4
    assert array_of(tmp_path, "note/text_summary").item().decode() == "**größer**\n\nthan 0"
    np.testing.assert_array_equal(array_of(tmp_path, "t"), values)
    layout = layout_pb2.Layout.FromString(array_of(tmp_path, "custom_scalars__config__").item())
    both, band = layout.category[0].chart
    assert (both.title, list(both.multiline.tag), band.margin.series[0].upper) == ("both", ["a", "b"], "u")


def test_hyperparameters_have_their_types_and_metrics(tmp_path):
    given = {"rate": lamella.tensor(0.1), "bias": True, "name": "sgd", "width": np.int64(3)}
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(given, {"accuracy": lamella.tensor(0.5)}, {"name": ["sgd", "adam"]}, run_name="one")
        with pytest.raises(TypeError, match=r"'hparam_dict\['x'\]' must hold real numbers, got object"):
            writer.add_hparams({"x": object()}, {})
        with pytest.raises(TypeError, match="argument 'metric_dict' must be a dict, got list"):
            writer.add_hparams({}, [])
    found = read(tmp_path / "one")
    assert numbers(tmp_path / "one", "accuracy") == [(0, 0.5)]
    content = {tag: found.SummaryMetadata(tag).plugin_data.content for tag in found.Tags()["tensors"]}
    start = hparams.parse_session_start_info_plugin_data(content[hparams.SESSION_START_INFO_TAG]).hparams
    rate, width = start["rate"].number_value, start["width"].number_value
    assert (rate, start["bias"].bool_value, start["name"].string_value, width) == (np.float32(0.1), True, "sgd", 3)
    about = hparams.parse_experiment_plugin_data(content[hparams.EXPERIMENT_TAG])
    types = {info.name: api_pb2.DataType.Name(info.type).removeprefix("DATA_TYPE_") for info in about.hparam_infos}
    assert types == {"rate": "FLOAT64", "bias": "BOOL", "name": "STRING", "width": "FLOAT64"}
    assert [m.name.tag for m in about.metric_infos] == ["accuracy"]
    domains = {info.name: list(info.domain_discrete) for info in about.hparam_infos}
    assert domains["name"] == ["sgd", "adam"]
    end = hparams.parse_session_end_info_plugin_data(content[hparams.SESSION_END_INFO_TAG])
    assert end.status == api_pb2.STATUS_SUCCESS


def test_meshes_and_sounds(tmp_path):
    places, faces = np.random.default_rng(0).random((1, 4, 3)), np.array([[[0, 1, 2], [1, 2, 3]]])
    sound = np.linspace(-2, 2, 9)
    with SummaryWriter(tmp_path) as writer:
        writer.add_mesh(
            "m", lamella.from_numpy(places), colors=np.full((1, 4, 3), 0.5), faces=faces, config_dict={"a": 1}
        )
        writer.add_audio("s", lamella.from_numpy(sound)[None], sample_rate=8000)
        with pytest.raises(ValueError, match=r"'vertices' must have the shape \(batch, N, 3\), got \(4, 3\)"):
            writer.add_mesh("m", places[0])
        with pytest.raises(ValueError, match=r"'snd_tensor' must have the shape \(L\) or \(1, L\), got \(2, 3\)"):
            writer.add_audio("s", np.ones((2, 3)))
    np.testing.assert_array_equal(array_of(tmp_path, "m_VERTEX"), places.astype(np.float32))
    np.testing.assert_array_equal(array_of(tmp_path, "m_FACE"), faces)
    np.testing.assert_array_equal(array_of(tmp_path, "m_COLOR"), np.full((1, 4, 3), 127))
    said = mesh.parse_plugin_metadata(read(tmp_path).SummaryMetadata("m_FACE").plugin_data.content)
    kinds = (MeshPluginData.VERTEX, MeshPluginData.FACE, MeshPluginData.COLOR)
    assert (said.name, said.json_config, said.components) == ("m", '{"a": 1}', mesh.get_components_bitmask(kinds))
    (event,) = read(tmp_path).Audio("s")
    (tmp_path / "s.wav").write_bytes(event.encoded_audio_string)
    with wave.open(str(tmp_path / "s.wav")) as file:
        found = np.frombuffer(file.readframes(99), "<i2")
        assert file.getframerate() == event.sample_rate == 8000 and event.length_frames == 9
    np.testing.assert_array_equal(found, np.trunc(sound.clip(-1, 1) * 32767))


def test_a_resumed_training_hides_what_it_repeats(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("loss", 1, step)
    time.sleep(1.1)  # TensorBoard reads files in the order of their names, which have the second
    with SummaryWriter(tmp_path, purge_step=6) as writer:
        writer.close()  # the next value begins another file, which hides nothing again
        for step in range(6, 8):
            writer.add_scalar("loss", 2, step)
    assert numbers(tmp_path, "loss") == [(i, 1) for i in range(6)] + [(6, 2), (7, 2)]
    assert len(os.listdir(tmp_path)) == 3


def test_the_folder_and_the_files_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_small", filename_suffix=".train") as writer:
        assert writer.get_logdir() == writer.log_dir and writer.log_dir.startswith("runs" + os.sep)
        assert writer.log_dir.endswith(f"_{socket.gethostname()}_small") and writer.file_writer is not None
    (name,) = os.listdir(writer.log_dir)
    assert name.startswith("events.out.tfevents.") and name.endswith(".train") and writer.file_writer is None


def test_a_file_has_whole_records_after_each_flush(tmp_path):
    """Each record is its length, the length's checksum, the bytes and their checksum."""
    writer = FileWriter(tmp_path)
    assert issubclass(RecordWriter, object) and writer.get_logdir() == str(tmp_path)
    writer.flush()
    (path,) = tmp_path.iterdir()
    content, at, n = path.read_bytes(), 0, 0
    while at < len(content):
        at += 16 + struct.unpack_from("<Q", content, at)[0]
        n += 1
    assert (at, n) == (len(content), 1)
    writer.reopen()
    writer.close()
    assert len(os.listdir(tmp_path)) == 2
    assert [e.file_version for e in EventFileLoader(str(path)).Load()] == ["brain.Event:2"]


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda w: w.add_scalar("x", "1"), TypeError, "argument 'scalar_value' must hold real numbers, got str"),
        (lambda w: w.add_scalar("x", 1j), TypeError, "must hold real numbers, got complex"),
        (lambda w: w.add_scalar("x", lamella.ones(1) * 1j), TypeError, "got elements of complex64"),
        (lambda w: w.add_scalar("x", [1, 2]), ValueError, r"must have one element, got the shape \(2,\)"),
        (lambda w: w.add_scalar(3, 1), TypeError, "argument 'tag' must be a str, got int"),
        (lambda w: w.add_scalar("x", lamella.ones(1, device="meta")), TypeError, "is on device 'meta'"),
        (lambda w: w.add_scalars("x", {"a": "b"}), TypeError, r"argument 'tag_scalar_dict\['a'\]'"),
        (lambda w: w.add_histogram("x", lamella.ones(3, device="meta")), TypeError, "'values' is on device 'meta'"),
        (lambda w: w.add_text("x", 3), TypeError, "argument 'text_string' must be a str, got int"),
        (lambda w: w.add_pr_curve("x", [1], [0.5], num_thresholds=1), ValueError, "at least 2, got 1"),
        (lambda w: w.add_pr_curve("x", [1, 0], [0.5]), ValueError, r"must have one shape, got \(2,\), \(1,\) and None"),
        (lambda w: w.add_pr_curve_raw("x", *[[1]] * 6), ValueError, r"'true_positive_counts' must have .* got \(1,\)"),
        (lambda w: w.add_graph(lamella.nn.Linear(2, 2)), NotImplementedError, "records no graphs of modules"),
        (lambda w: w.add_onnx_graph("x"), NotImplementedError, "reads no files of ONNX"),
    ],
)
def test_bad_input_says_what_to_do_and_writes_nothing(call, kind, words, tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.raises(kind, match=words):
        call(writer)
    assert not any(read(tmp_path).Tags().values()) and len(os.listdir(tmp_path)) == 1


def test_signatures_are_torchs():
    """Stated from torch 2.13's signatures."""
    want = {
        "add_scalar": "tag scalar_value global_step walltime new_style double_precision",
        "add_scalars": "main_tag tag_scalar_dict global_step walltime",
        "add_histogram": "tag values global_step bins walltime max_bins",
        "add_image_with_boxes": "tag img_tensor box_tensor global_step walltime rescale dataformats labels",
        "add_figure": "tag figure global_step close walltime",
        "add_video": "tag vid_tensor global_step fps walltime",
        "add_hparams": "hparam_dict metric_dict hparam_domain_discrete run_name global_step",
        "add_embedding": "mat metadata label_img global_step tag metadata_header",
        "add_pr_curve": "tag labels predictions global_step num_thresholds weights walltime",
        "add_mesh": "tag vertices colors faces config_dict global_step walltime",
        "__init__": "log_dir comment purge_step max_queue flush_secs filename_suffix",
    }
    found = {n: " ".join([*inspect.signature(getattr(SummaryWriter, n)).parameters][1:]) for n in want}
    assert found == want


def python(code, *options):
    env = clean_environment(LAMELLA_PLUGINS=OWN_PLUGINS)
    done = subprocess.run([sys.executable, *options, "-c", code], env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_the_package_the_import_says_how_to_get_it():
    text = python(
        """
import sys
sys.modules["tensorboard"] = None  # as if it were not installed
import lamella
for _ in range(2):
    try:
        from lamella.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        print(error, error.name, error.__cause__)
"""
    )
    line = "lamella.utils.tensorboard: the package 'tensorboard' is not installed; pip install lamella[tensorboard]"
    assert text.splitlines() == [f"{line} tensorboard None"] * 2


def test_an_import_of_lamella_brings_nothing_of_it():
    text = python("import sys, lamella, lamella.utils; print([m for m in sys.modules if 'tensorboard' in m])")
    assert text == "[]\n"


def test_programs_for_torch_write_the_same(tmp_path):
    (tmp_path / "main.py").write_text(
        "import torch\n"
        "from torch.utils.tensorboard import SummaryWriter\n"
        "import torch.utils.tensorboard as board\n"
        "with board.SummaryWriter('runs/a') as writer:\n"
        "    writer.add_scalar('loss', torch.tensor(0.25), 3)\n"
    )
    command = [sys.executable, "-m", "lamella", "run"]
    checked = subprocess.run(
        [*command, "--check", "main.py"], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True
    )
    assert (checked.stdout, checked.returncode) == ("", 0), checked.stdout + checked.stderr
    done = subprocess.run([*command, "main.py"], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert numbers(tmp_path / "runs" / "a", "loss") == [(3, 0.25)]


def test_a_writer_that_nobody_closes_loses_no_event(tmp_path):
    program = f"""
from lamella.utils.tensorboard import SummaryWriter
writer = SummaryWriter({str(tmp_path)!r})
for step in range(50):
    writer.add_scalar("loss", step, step)
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=clean_environment())
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert [event.value for event in read.Scalars("loss")] == list(range(50))
