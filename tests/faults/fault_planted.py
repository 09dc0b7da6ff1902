"""Planted defects: operators that each break one promise, which the sweep must report, and a correct operator."""

from __future__ import annotations

import faulthandler
import os
import signal

import lamella


def check(dim: int, text: str) -> None:
    if not -2 <= dim < 2:
        raise IndexError(text)


def honest(self, dim):
    check(dim, f"planted::honest: argument 'dim' must be from -2 to 1, got {dim}")
    return self.clone()


def ignores(self, dim):
    return self.clone()


def mutates(self, dim):
    self.add_(1)
    check(dim, "planted::mutates: argument 'dim' is out of range")
    return self.clone()


def bumps(self, dim):
    self.add_(0)
    check(dim, "planted::bumps: argument 'dim' is out of range")
    return self.clone()


def nameless(self, dim):
    check(dim, "argument 'dim' is out of range")
    return self.clone()


def vague(self, dim):
    check(dim, "planted::vague: an argument is out of range")
    return self.clone()


def odd(self, dim):
    if dim not in (-2, -1, 0, 1):
        raise ArithmeticError("planted::odd: argument 'dim' is out of range")
    return self.clone()


def dies(self, dim):
    if dim > 1:
        faulthandler.disable()  # pytest's handler would report this intended death
        os.kill(os.getpid(), signal.SIGSEGV)
    check(dim, "planted::dies: argument 'dim' is out of range")
    return self.clone()


def refuses(self, dim):
    raise IndexError("planted::refuses: argument 'dim' is never right")


# defect -> the sweep's message for it
DEFECTS = {
    ignores: "raised nothing",
    mutates: "changed argument 'self' (_version, bytes)",
    bumps: "changed argument 'self' (_version)",
    nameless: "the message does not open with 'planted::nameless:'",
    vague: "the message names none of dim",
    odd: "raised ArithmeticError instead of IndexError or RuntimeError",
    dies: "the process died by SIGSEGV",
    refuses: "a valid call raised IndexError",
}


def plant(kernel) -> lamella.library.Library:
    """Registers a defect and returns its library; closing the library withdraws it."""
    library = lamella.library.Library("planted", "FRAGMENT", owner="planted defects")
    library.define(f"{kernel.__name__}(Tensor self, int dim) -> Tensor")
    library.impl(kernel.__name__, kernel, "composite")
    return library
