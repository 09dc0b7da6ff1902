"""The version of Lamella, under the names of torch.version. The versions of vendors' platforms are None."""

from lamella._C import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug = False
cuda: str | None = None  # backends are plugins: none is compiled in
hip: str | None = None
xpu: str | None = None
git_version = __version__
