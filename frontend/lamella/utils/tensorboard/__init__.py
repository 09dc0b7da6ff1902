"""Files for TensorBoard: ``SummaryWriter``, with torch's names, over the package ``tensorboard``.

``pip install lamella[tensorboard]`` installs that package. ``import lamella`` imports neither it nor this module.
"""

try:
    import tensorboard as _installed  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "tensorboard":
        raise
    raise ModuleNotFoundError(
        "lamella.utils.tensorboard: the package 'tensorboard' is not installed; pip install lamella[tensorboard]",
        name="tensorboard",
    ) from None

from tensorboard.summary.writer.record_writer import RecordWriter

from lamella.utils.tensorboard.files import FileWriter
from lamella.utils.tensorboard.writer import SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
