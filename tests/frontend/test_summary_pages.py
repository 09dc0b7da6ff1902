"""A real TensorBoard shows what ``SummaryWriter`` wrote: by its HTTP addresses, and on its page in a browser."""

import io
import json
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import lamella
import numpy as np
import pytest
from browsers import Browser
from children import clean_environment
from lamella.utils.tensorboard import SummaryWriter
from PIL import Image


class Server:
    """A TensorBoard on a free port."""

    def __init__(self, folder):
        self.folder = folder
        command = [sys.executable, "-m", "tensorboard.main", f"--logdir={folder}", "--port=0", "--host=127.0.0.1"]
        self.process = subprocess.Popen(
            [*command, "--load_fast=false"], env=clean_environment(), text=True, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        self.lines, self.known = [], threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        if not self.known.wait(120):
            self.close()
            pytest.fail(f"TensorBoard does not start: {self.lines}")

    def _listen(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r"http://[\d.]+:\d+/", line):
                self.address = found[0]
                self.known.set()

    def bytes(self, path):
        with urllib.request.urlopen(self.address + path, timeout=60) as answer:
            return answer.read()

    def get(self, path):
        """Returns the JSON of an address as soon as it is not empty."""
        end = time.monotonic() + 60
        while True:
            try:
                found = self.bytes(path)
                if json.loads(found) or time.monotonic() > end:
                    return json.loads(found)
            except urllib.error.HTTPError:  # the files have not been read yet
                if time.monotonic() > end:
                    raise
            time.sleep(0.2)

    def close(self):
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    with SummaryWriter(folder / "first") as writer:
        for step in range(20):
            writer.add_scalar("loss_of_training", lamella.tensor(1 / (step + 1), dtype=lamella.bfloat16), step)
        writer.add_histogram("weights_of_layer", lamella.linspace(-1, 1, 101))
        writer.add_image("digit_as_image", lamella.linspace(0, 1, 64).reshape(1, 8, 8))
        writer.add_text("notes", "a **text**")
        writer.add_pr_curve("curve", np.array([1, 0, 1, 0]), np.array([0.9, 0.2, 0.6, 0.7]), num_thresholds=5)
        writer.add_embedding(lamella.eye(4), list("abcd"), tag="points")
        writer.add_mesh("corners", lamella.eye(3)[None])
        writer.add_hparams({"rate": 0.1}, {"reached": 0.5}, run_name="trial")
    server = Server(folder)
    yield server
    server.close()


def test_its_pages_data(board):
    scalars = board.get("data/plugin/scalars/scalars?run=first&tag=loss_of_training")
    want = lamella.tensor([1 / (i + 1) for i in range(20)]).to(lamella.bfloat16).tolist()
    assert [(step, value) for _, step, value in scalars] == list(enumerate(want))
    ((_, step, buckets),) = board.get("data/plugin/histograms/histograms?run=first&tag=weights_of_layer")
    assert step == 0 and sum(count for _, _, count in buckets) == pytest.approx(101)
    (image,) = board.get("data/plugin/images/images?run=first&tag=digit_as_image&sample=0")
    picture = Image.open(io.BytesIO(board.bytes(f"data/plugin/images/individualImage?{image['query']}")))
    np.testing.assert_array_equal(picture, (np.linspace(0, 1, 64) * 255).astype(np.uint8).reshape(8, 8))
    (text,) = board.get("data/plugin/text/text?run=first&tag=notes%2Ftext_summary")
    assert text["text"] == "<p>a <strong>text</strong></p>"
    (curve,) = board.get("data/plugin/pr_curves/pr_curves?run=first&tag=curve")["first"]
    assert curve["thresholds"] == [0, 0.25, 0.5, 0.75]  # the page leaves out thresholds that nothing reaches
    assert curve["precision"] == pytest.approx([2 / 4, 2 / 3, 2 / 3, 1]) and curve["recall"] == [1, 1, 1, 0.5]
    (points,) = board.get("data/plugin/projector/info?run=first")["embeddings"]
    assert (points["tensorName"], points["tensorShape"]) == ("points:00000", [4, 4])
    (mesh,) = board.get("data/plugin/mesh/meshes?run=first&tag=corners&sample=0")
    assert mesh["data_shape"] == [1, 3, 3]


@pytest.mark.long
def test_a_browser_shows_its_tags(board, tmp_path):
    browser = Browser(tmp_path)
    board.get("data/plugin/images/images?run=first&tag=digit_as_image&sample=0")  # the files have been read
    tags = {"loss_of_training", "weights_of_layer", "digit_as_image"}
    for seconds in (10, 30, 90):  # of the page's own time
        document = browser.document(board.address, 1000 * seconds)
        missing = {tag for tag in tags if tag not in document}
        if not missing:
            break
    assert not missing, document[-2000:]
