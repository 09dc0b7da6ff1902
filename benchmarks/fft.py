"""Fourier transforms: lines of 2^10 to 2^20 elements, images, frames of a signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import families

LENGTHS = [2**k for k in range(10, 21, 2)]
SHAPES = {"512 × 512": (512, 512), "16 × 512 × 512": (16, 512, 512)}


def arrays() -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal(16 * 512 * 512, np.float32)
    data = {"frames": x[: 1000 * 400].reshape(1000, 400), "odd": x[:10007], "signal": x[:160000]}
    data |= {str(n): x[:n] for n in LENGTHS}
    data |= {name: x.reshape(-1)[: np.prod(shape)].reshape(shape) for name, shape in SHAPES.items()}
    data |= {f"{name} complex": (a + 1j * a[::-1]).astype(np.complex64) for name, a in data.items()}
    return data | {"double": x[: 2**16].astype(np.float64) + 1j}


def work() -> dict[str, Callable[[Any, dict[str, Any]], Any]]:
    """Returns functions of the library and of the tensors by name."""
    made: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
    for n in LENGTHS:
        power = n.bit_length() - 1
        made[f"fft, 2^{power}"] = lambda m, t, n=n: m.fft.fft(t[f"{n} complex"])
        made[f"rfft, 2^{power}"] = lambda m, t, n=n: m.fft.rfft(t[str(n)])
    for name in SHAPES:
        made[f"fft2, {name}"] = lambda m, t, name=name: m.fft.fft2(t[f"{name} complex"])
        made[f"rfft2, {name}"] = lambda m, t, name=name: m.fft.rfft2(t[name])
    return made | {
        "fft, 1000 frames of 400": lambda m, t: m.fft.fft(t["frames complex"]),
        "rfft, 1000 frames of 400": lambda m, t: m.fft.rfft(t["frames"]),
        "irfft, 2^16": lambda m, t: m.fft.irfft(t["65536 complex"][:32769], 65536),
        "ifft, 2^16": lambda m, t: m.fft.ifft(t["65536 complex"]),
        "fft, 2^16, complex128": lambda m, t: m.fft.fft(t["double"]),
        "fft, the prime 10007": lambda m, t: m.fft.fft(t["odd complex"]),
        "fft along the first of 512 × 512": lambda m, t: m.fft.fft(t["512 × 512 complex"], dim=0),
        "stft, 160000, windows of 400": lambda m, t: m.stft(
            t["signal"], 400, 160, window=t["window"], return_complex=True
        ),
    }


def close(ours: Any, theirs: Any) -> None:
    """Raises AssertionError unless the results agree within float32's rounding of their largest element."""
    import numpy as np

    x, y = np.asarray(ours), np.asarray(theirs)
    np.testing.assert_allclose(x, y, rtol=0, atol=2e-6 * float(np.abs(y).max()))


def cases() -> list[families.Case]:
    import lamella
    import torch

    data = arrays()
    ours = {name: lamella.tensor(x) for name, x in data.items()} | {"window": lamella.hann_window(400)}
    theirs = {name: torch.from_numpy(x.copy()) for name, x in data.items()} | {"window": torch.hann_window(400)}
    return [
        families.Case(name, lambda f=f: f(lamella, ours), lambda f=f: f(torch, theirs), check=close)
        for name, f in work().items()
    ]


def main() -> list[families.Family]:
    return [families.run("Fourier transforms", cases(), 0.7, 1.1)]


if __name__ == "__main__":
    main()
