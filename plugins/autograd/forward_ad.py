"""Forward mode for programs, which the plugin of transforms computes: see ``docs/transforms.md``."""

from typing import Any

import lamella

_duals: Any = lamella.func.forward_ad

UnpackedDualTensor = _duals.UnpackedDualTensor
dual_level = _duals.dual_level
enter_dual_level = _duals.enter_dual_level
exit_dual_level = _duals.exit_dual_level
make_dual = _duals.make_dual
unpack_dual = _duals.unpack_dual
