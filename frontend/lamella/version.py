"""Which Lamella this is, and for which vendors' devices: names are torch.version's."""

from lamella._C import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug = False
cuda: str | None = None  # backends are plugins: none is compiled in
hip: str | None = None
xpu: str | None = None
git_version = __version__
