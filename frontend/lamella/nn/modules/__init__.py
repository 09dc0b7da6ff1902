"""torch.nn.modules' names, each in the file that torch has it in."""

from types import ModuleType as _ModuleType

from lamella.nn.modules.activation import *  # noqa: F403
from lamella.nn.modules.adaptive import *  # noqa: F403
from lamella.nn.modules.batchnorm import *  # noqa: F403
from lamella.nn.modules.channelshuffle import *  # noqa: F403
from lamella.nn.modules.container import *  # noqa: F403
from lamella.nn.modules.conv import *  # noqa: F403
from lamella.nn.modules.distance import *  # noqa: F403
from lamella.nn.modules.dropout import *  # noqa: F403
from lamella.nn.modules.flatten import *  # noqa: F403
from lamella.nn.modules.fold import *  # noqa: F403
from lamella.nn.modules.instancenorm import *  # noqa: F403
from lamella.nn.modules.linear import *  # noqa: F403
from lamella.nn.modules.linear_cross_entropy_options import *  # noqa: F403
from lamella.nn.modules.loss import *  # noqa: F403
from lamella.nn.modules.module import Module  # noqa: F401, I001
from lamella.nn.modules.normalization import *  # noqa: F403
from lamella.nn.modules.padding import *  # noqa: F403
from lamella.nn.modules.pixelshuffle import *  # noqa: F403
from lamella.nn.modules.pooling import *  # noqa: F403
from lamella.nn.modules.rnn import *  # noqa: F403
from lamella.nn.modules.sparse import *  # noqa: F403
from lamella.nn.modules.transformer import *  # noqa: F403
from lamella.nn.modules.upsampling import *  # noqa: F403

# The files that are imported above are attributes of this package by now; they are left out.
__all__ = sorted(name for name, value in vars().items() if name[0] != "_" and not isinstance(value, _ModuleType))
