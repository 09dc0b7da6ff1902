"""Pictures of ``SummaryWriter``: the pixels in its files are those that numpy computes."""

import io

import lamella
import numpy as np
import pytest
from google.protobuf import text_format
from lamella.utils.tensorboard import SummaryWriter
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig


def picture(folder, tag):
    (event,) = EventAccumulator(str(folder), size_guidance={"images": 0}).Reload().Images(tag)
    opened = Image.open(io.BytesIO(event.encoded_image_string))
    assert (event.width, event.height) == opened.size
    return np.asarray(opened)


@pytest.mark.parametrize("dataformats, shape", [("CHW", (3, 4, 5)), ("hwc", (4, 5, 3)), ("WHC", (5, 4, 3))])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "bfloat16"])
def test_images_of_each_layout(dataformats, shape, dtype, tmp_path):
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 256, shape) if dtype == "uint8" else rng.normal(0.5, 0.5, shape)
    image = lamella.from_numpy(plain).to(getattr(lamella, dtype))
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("x", image, dataformats=dataformats)
    values = image.to(lamella.float32).numpy()
    want = np.einsum(f"{dataformats.lower()}->hwc", values if dtype == "uint8" else np.clip(values * 255, 0, 255))
    np.testing.assert_array_equal(picture(tmp_path, "x"), want.astype(np.uint8))


@pytest.mark.parametrize("channels, mode", [(1, "L"), (3, "RGB"), (4, "RGBA")])
def test_images_of_each_number_of_channels(channels, mode, tmp_path):
    plain = np.random.default_rng(0).integers(0, 256, (channels, 2, 3), dtype=np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("x", lamella.from_numpy(plain))
        writer.add_image("flat", plain[0], dataformats="HW")
    want = plain[0] if channels == 1 else plain.transpose(1, 2, 0)
    np.testing.assert_array_equal(picture(tmp_path, "x"), want)
    np.testing.assert_array_equal(picture(tmp_path, "flat"), plain[0])


@pytest.mark.parametrize("n", [1, 5, 8, 11])
def test_several_images_are_eight_in_a_row(n, tmp_path):
    plain = np.random.default_rng(0).integers(1, 256, (n, 3, 4, 5), dtype=np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_images("x", lamella.from_numpy(plain))
        writer.add_images("last", plain.transpose(0, 2, 3, 1), dataformats="NHWC")
    rows, columns = -(-n // 8), min(n, 8)
    want = np.zeros((rows * 4, columns * 5, 3), np.uint8)
    for i, image in enumerate(plain):
        top, left = i // 8 * 4, i % 8 * 5
        want[top : top + 4, left : left + 5] = image.transpose(1, 2, 0)
    np.testing.assert_array_equal(picture(tmp_path, "x"), want)
    np.testing.assert_array_equal(picture(tmp_path, "last"), want)


def test_boxes_are_red_lines_around_the_places(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        image, boxes = lamella.zeros(3, 40, 50), lamella.tensor([[5.0, 10, 30, 25]])
        writer.add_image_with_boxes("x", image, boxes)
        writer.add_image_with_boxes("large", image, boxes, rescale=2, labels="cat")
        with pytest.raises(ValueError, match=r"'box_tensor' must have the shape \(N, 4\), got \(4,\)"):
            writer.add_image_with_boxes("x", image, boxes[0])
        with pytest.raises(ValueError, match="'labels' must have a text for each of 1 boxes, got 2"):
            writer.add_image_with_boxes("x", image, boxes, labels=["a", "b"])
    found = picture(tmp_path, "x")
    want = np.zeros((40, 50), bool)
    want[10:26, 5:31] = True
    want[12:24, 7:29] = False  # two pixels wide
    np.testing.assert_array_equal(found, want[..., None] * np.array([255, 0, 0]))
    large = picture(tmp_path, "large")
    assert large.shape == (80, 100, 3) and (large[20, 10:61] == [255, 0, 0]).all()
    assert large[22:40, 13:40, 0].any() and not large[..., 1:].any()  # the label


def test_figures_are_drawn_and_closed(tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    with SummaryWriter(tmp_path) as writer:
        kept, closed = pyplot.figure(figsize=(2, 1), dpi=50, facecolor="red"), pyplot.figure()
        writer.add_figure("kept", kept, close=False)
        writer.add_figure("closed", closed)
        writer.add_figure("two", [Figure((1, 1), 20, facecolor="blue"), Figure((1, 1), 20, facecolor="lime")])
        assert pyplot.fignum_exists(kept.number) and not pyplot.fignum_exists(closed.number)
        pyplot.close(kept)
        with pytest.raises(ValueError, match="the figures must be equally large"):
            writer.add_figure("two", [Figure((1, 1), 20), Figure((1, 2), 20)])
    red = picture(tmp_path, "kept")
    assert red.shape == (50, 100, 4) and (red == [255, 0, 0, 255]).all()
    two = picture(tmp_path, "two")
    assert (two[:, :20] == [0, 0, 255, 255]).all() and (two[:, 20:] == [0, 255, 0, 255]).all()


def test_videos_are_moving_pictures(tmp_path):
    values = np.zeros((3, 4, 1, 6, 6), np.uint8)
    for n in range(3):
        for t in range(4):
            values[n, t] = 60 * n + 20 * t + 10
    with SummaryWriter(tmp_path) as writer:
        writer.add_video("x", lamella.from_numpy(values), fps=10)
        for fps in (0, 1000):
            with pytest.raises(ValueError, match=f"'fps' must be above 0 and at most 100, got {fps}"):
                writer.add_video("x", values, fps=fps)
        with pytest.raises(ValueError, match=r"must have the shape \(N, T, C, H, W\), got \(4, 1, 6, 6\)"):
            writer.add_video("x", values[0])
    (event,) = EventAccumulator(str(tmp_path)).Reload().Images("x")
    found = Image.open(io.BytesIO(event.encoded_image_string))
    assert (found.format, found.n_frames, found.info["duration"], found.info["loop"]) == ("GIF", 4, 100, 0)
    for t in range(4):
        found.seek(t)
        frame = np.asarray(found.convert("L"))
        first, second = frame[:6, :6], frame[:6, 6:]
        third, rest = frame[6:, :6], frame[6:, 6:]  # a square of four, the last one empty
        for n, part in enumerate((first, second, third)):
            np.testing.assert_array_equal(part, values[n, t, 0])
        assert not rest.any()


@pytest.mark.parametrize(
    "image, options, words",
    [
        (np.ones((3, 4)), {}, r"must name each of the 2 dimensions of an image of shape \(3, 4\) once"),
        (np.ones((3, 4, 4)), {"dataformats": "CHH"}, "got 'CHH'"),
        (np.ones((3, 4, 4)), {"dataformats": "NHW"}, "got 'NHW'"),
        (np.ones((5, 4, 4)), {}, r"1 to 4 channels, got \(..., H, W, C\) = \(4, 4, 5\)"),
        (np.ones((3, 0, 4)), {}, "an image needs elements"),
    ],
)
def test_what_is_no_image_is_refused(image, options, words, tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match=words):
        writer.add_image("x", image, **options)


def test_embeddings_are_files_for_the_projector(tmp_path):
    points = np.random.default_rng(0).random((5, 3)).astype(np.float32)
    images = np.random.default_rng(1).integers(0, 256, (5, 3, 4, 4), dtype=np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(lamella.from_numpy(points), list("abcde"), lamella.from_numpy(images), 2, "a/b")
        rows = [[i, f"n{i}"] for i in range(5)]
        for step in (2, 3, 3):  # the second of step 3 replaces the first
            writer.add_embedding(points, rows, global_step=step, tag="t", metadata_header=["i", "name"])
        for arguments, words in (
            ((points[0],), r"'mat' must have the shape \(points, features\), got \(3,\)"),
            ((points, ["a"]), "'metadata' must have a label for each of 5 points, got 1"),
            ((points, list("abcd") + ["\t"]), "'metadata' must have no tabs and ends of lines"),
            ((points, None, images[:2]), r"'label_img' must have the shape \(5, C, H, W\), got \(2, 3, 4, 4\)"),
        ):
            with pytest.raises(ValueError, match=words):
                writer.add_embedding(*arguments)
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    assert [e.tensor_name for e in config.embeddings] == ["a/b:00002", "t:00002", "t:00003"]
    first, second, _ = config.embeddings
    np.testing.assert_array_equal(np.loadtxt(tmp_path / first.tensor_path, np.float32), points)
    assert (tmp_path / first.metadata_path).read_text() == "a\nb\nc\nd\ne\n"
    assert (tmp_path / second.metadata_path).read_text().splitlines()[:2] == ["i\tname", "0\tn0"]
    sprite = np.asarray(Image.open(tmp_path / first.sprite.image_path))
    assert list(first.sprite.single_image_dim) == [4, 4] and sprite.shape == (8, 12, 3)
    for i, image in enumerate(images):
        part = sprite[i // 3 * 4 :, i % 3 * 4 :][:4, :4]
        np.testing.assert_array_equal(part, image.transpose(1, 2, 0))
