"""Data for a training loop: datasets, samplers, and a loader that makes batches in worker processes.

>>> from lamella.utils.data import DataLoader, TensorDataset
>>> loader = DataLoader(TensorDataset(lamella.arange(5), lamella.eye(5)), batch_size=2)
>>> [x for x, y in loader]
[tensor([0, 1]), tensor([2, 3]), tensor([4])]

A transform is a call of operators. In the dataset it runs in the worker that reads the sample; in the model it runs on
the batch, on any device, and can be differentiated. ``examples/transforms.py`` does both.
"""

from lamella._torch.refusals import refuse as _refuse
from lamella.utils.data import _utils  # noqa: F401
from lamella.utils.data.dataloader import (
    DataLoader,
    _DatasetKind,
    default_collate,
    default_convert,
    get_worker_info,
)
from lamella.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from lamella.utils.data.distributed import DistributedSampler
from lamella.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "_DatasetKind",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

_refuse(
    "lamella.utils.data",
    "DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation functional_datapipe "
    "guaranteed_datapipes_determinism non_deterministic runtime_validation runtime_validation_disabled",
    "datapipes are deprecated in torch; a Dataset or an IterableDataset does their work",
)
