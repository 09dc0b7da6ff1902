"""Eigenpairs at an end of the spectrum, by the locally optimal block preconditioned conjugate gradient method.

Sources:
    Knyazev, Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
    method, 2001: the method "basic".
    Hetmaniuk and Lehoucq, Basis selection in LOBPCG, 2006: the orthonormal basis of the method "ortho".
    Stathopoulos and Wu, A block orthogonalization procedure with constant synchronization requirements, 2002:
    columns become orthonormal by the eigenvectors of their Gram matrix.
    Duersch, Shao, Yang and Gu, A robust and efficient implementation of LOBPCG, 2018: the size of a residual.

``lamella.lobpcg`` imports this module when it is first called.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from lamella import _C
from lamella._C import Tensor
from lamella._dtypes import finfo

cat, stack = _C._packet("aten::cat"), _C._packet("aten::stack")
eye, randn = _C._packet("aten::eye"), _C._packet("aten::randn")
zeros, zeros_like = _C._packet("aten::zeros"), _C._packet("aten::zeros_like")
cholesky_ex, eigh = _C._packet("aten::linalg_cholesky_ex"), _C._packet("aten::linalg_eigh")
norm, linear_solve = _C._packet("aten::linalg_norm"), _C._packet("aten::linalg_solve")
solve_triangular = _C._packet("aten::linalg_solve_triangular")


def adjoint(x: Tensor) -> Tensor:
    return x.mH if x.is_complex() else x.mT


def hermitian(x: Tensor) -> Tensor:
    """Returns a small matrix without the part by which rounding makes it differ from its adjoint."""
    return (x + adjoint(x)) / 2


def times(matrix: Tensor | None, x: Tensor) -> Tensor:
    """Returns ``matrix @ x``; None stands for the identity."""
    return x if matrix is None else matrix @ x


class LOBPCG:
    """The state of an iteration over one matrix. A tracker gets this object, and must copy the tensors that it keeps.

    Attributes:
        A, B, iK: the matrices; None stands for the identity
        E, X: the approximate eigenvalues (n,) and eigenvectors (m, n)
        R: the residuals AX - BX diag(E), (m, n)
        S: the basis in which the last step searched
        iparams: "m", "n", "k", "niter", "ortho_i_max", "ortho_j_max", and "batch_index" of a matrix in a batch
        fparams: "tol", "ortho_tol", "ortho_tol_drop", "ortho_tol_replace"
        bparams: "largest", "ortho_use_drop"
        ivars: "istep", "converged_count", "iterations_left"
        fvars: "A_norm", "B_norm"
        bvars: "force_stop", which a tracker sets to True to end the iteration
        tvars: "rerr", the relative sizes of the residuals, (n,)
    """

    def __init__(
        self,
        A: Tensor,
        B: Tensor | None,
        X: Tensor,
        iK: Tensor | None,
        iparams: dict[str, int],
        fparams: dict[str, float],
        bparams: dict[str, bool],
        method: str,
        tracker: Callable[[LOBPCG], Any] | None,
    ):
        eps = finfo(X.dtype).eps
        defaults = {"ortho_tol": eps**0.75, "ortho_tol_drop": eps, "ortho_tol_replace": eps}
        self.A, self.B, self.iK, self.tracker = A, B, iK, tracker
        self.iparams = {"ortho_i_max": 3, "ortho_j_max": 3} | iparams
        self.fparams, self.bparams = defaults | fparams, {"ortho_use_drop": True} | bparams
        self.fvars = {"A_norm": self._norm(A, X), "B_norm": 1.0 if B is None else self._norm(B, X)}
        self.ivars = {"istep": 0, "converged_count": 0, "iterations_left": self.iparams["niter"]}
        self.bvars = {"force_stop": False}
        for name, size in (("A", self.fvars["A_norm"]), ("B", self.fvars["B_norm"])):
            if not math.isfinite(size):
                raise self._error(f"argument '{name}' has infinities or NaN; replace them first, as nan_to_num() does")
        self.step = self._step_basic if method == "basic" else self._step_ortho
        self.P: tuple[Tensor, Tensor, Tensor] | None = None  # the last directions P, with AP and BP
        self._start(X)
        self._measure()

    @staticmethod
    def _norm(matrix: Tensor, X: Tensor) -> float:
        """Returns an estimate of a matrix's norm, by a block of vectors."""
        size = float(norm(X))
        return float(norm(matrix @ X)) / size if size else 1.0

    def _error(self, text: str) -> Exception:
        """Returns a LinAlgError that names the matrix of a batch."""
        batch = f" (batch element {self.iparams['batch_index']})" if "batch_index" in self.iparams else ""
        return _C._error_class("LinAlgError")(f"lobpcg{batch}: {text}")

    # ---- the iteration ----

    def run(self) -> None:
        """Takes steps until k eigenpairs have converged, ``niter`` steps are taken, or the tracker stops it."""
        self._track()
        while not self._ended():
            self.ivars["istep"] += 1
            self.ivars["iterations_left"] -= 1
            if not self.step():  # no direction is left in which the vectors could improve
                break
            self._measure()
            self._track()

    def _track(self) -> None:
        if self.tracker is not None:
            self.tracker(self)

    def _ended(self) -> bool:
        done = self.ivars["converged_count"] >= self.iparams["k"]
        return done or self.bvars.get("force_stop", False) or self.ivars["iterations_left"] == 0

    def _start(self, X: Tensor) -> None:
        """Sets X to Ritz vectors of the span of the given vectors, filled up at random where these are dependent."""
        n = X.shape[-1]
        made = self.orthonormal(X, None)
        for _ in range(3):  # random vectors are dependent with probability zero
            if made.shape[-1] == n:
                break
            more = randn((X.shape[0], n - made.shape[-1]), dtype=X.dtype, device=X.device)
            made = cat([made, self.orthonormal(more, made)], 1) if made.shape[-1] else self.orthonormal(more, None)
        else:
            raise self._error("argument 'B' is not positive-definite")
        self.E, coefficients = self._spectrum(adjoint(made) @ (self.A @ made))
        self.S, self.X = made, made @ coefficients

    def _measure(self) -> None:
        """Sets the residuals and their relative sizes, and counts the first eigenpairs that have converged."""
        self.AX, self.BX = self.A @ self.X, times(self.B, self.X)
        self.R = self.AX - self.BX * self.E
        scale = self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"]
        rerr = norm(self.R, dim=0) / (norm(self.X, dim=0) * scale).clamp_min(finfo(self.X.dtype).tiny)
        self.tvars = {"rerr": rerr}
        converged = 0
        for size in rerr.tolist():
            if not size < self.fparams["tol"]:
                break
            converged += 1
        self.ivars["converged_count"] = converged

    def _spectrum(self, matrix: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the wanted n eigenvalues of a small Hermitian matrix in their order, and their vectors."""
        values, vectors = eigh(hermitian(matrix))
        if self.bparams["largest"]:
            values, vectors = values.flip([-1]), vectors.flip([-1])
        n = self.iparams["n"]
        return values[:n], vectors[:, :n]

    def _directions(self) -> Tensor:
        """Returns the preconditioned residuals of the eigenpairs that have not converged."""
        return times(self.iK, self.R[:, self.ivars["converged_count"] :])

    def _basis(self, W: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns S, AS and BS, where S has the columns of X, W and P."""
        parts = [(self.X, self.AX, self.BX), (W, self.A @ W, times(self.B, W)), *([] if self.P is None else [self.P])]
        S, AS, BS = (cat(columns, 1) for columns in zip(*parts, strict=True))
        return S, AS, BS

    def _step_basic(self) -> bool:
        """Searches in the span of X, W and P by the generalized eigenproblem of its Gram matrices (Knyazev 2001)."""
        n, active = self.iparams["n"], self.ivars["converged_count"]
        W = self._directions()
        basis = self._basis(W)
        size = norm(basis[0], dim=0)
        kept = size > 0  # what has converged exactly has no direction
        for width in dict.fromkeys((len(size), n + W.shape[-1])):
            # X and W alone make a step of steepest descent, which is better conditioned.
            S, AS, BS = ((part[:, :width] / size[:width])[:, kept[:width]] for part in basis)
            L, info = cholesky_ex(hermitian(adjoint(S) @ BS))
            if not int(info):
                break
        else:
            raise self._error(
                f"the directions of step {self.ivars['istep']} are dependent; use method='ortho', or a larger tol"
            )
        small = solve_triangular(L, hermitian(adjoint(S) @ AS), upper=False)
        self.E, Y = self._spectrum(solve_triangular(L, adjoint(small), upper=False))
        Y = solve_triangular(adjoint(L), Y, upper=True)
        self.S, self.X = S, S @ Y
        Y = Y[n:, active:]
        self.P = (S[:, n:] @ Y, AS[:, n:] @ Y, BS[:, n:] @ Y)
        return True

    def _step_ortho(self) -> bool:
        """Searches in an orthonormal basis of X, P and W, and chooses P orthogonal to X (Hetmaniuk, Lehoucq 2006)."""
        n, active = self.iparams["n"], self.ivars["converged_count"]
        W = self.orthonormal(self._directions(), self.X if self.P is None else cat([self.X, self.P[0]], 1))
        if not W.shape[-1]:
            return False
        S, AS, BS = self._basis(W)
        self.E, Z = self._spectrum(adjoint(S) @ AS)
        # P's coefficients are the part of Z outside of the old X, made orthogonal to Z.
        outside = cat([zeros_like(Z[:n]), Z[n:]], 0)[:, active:]
        outside = outside - Z @ (adjoint(Z) @ outside)
        both = cat([Z, self._svqb(outside, None)], 1)
        # Rounding errors of the basis would add up over the steps. A step of Newton's iteration for the inverse square
        # root of the Gram matrix, which is near the identity, removes them.
        gram = adjoint(both) @ (adjoint(S) @ BS) @ both
        both = both @ (1.5 * eye(both.shape[-1], dtype=S.dtype, device=S.device) - gram / 2)
        self.S, self.X = S, S @ both[:, :n]
        self.P = (S @ both[:, n:], AS @ both[:, n:], BS @ both[:, n:])
        return True

    # ---- orthonormal columns ----

    def orthonormal(self, U: Tensor, V: Tensor | None) -> Tensor:
        """Returns B-orthonormal columns, B-orthogonal to those of V, that span what U and V span beyond V.

        There are fewer columns than those of U if these are dependent, or lie in V's span.
        """
        tol = self.fparams["ortho_tol"]
        BV = None if V is None else times(self.B, V)
        for _ in range(self.iparams["ortho_i_max"]):
            if V is not None and BV is not None:
                U = U - V @ (adjoint(BV) @ U)
            for _ in range(self.iparams["ortho_j_max"]):
                U = self._svqb(U, self.B)
                if not U.shape[-1]:
                    return U
                gram = adjoint(U) @ times(self.B, U)
                gram.diagonal().sub_(1)
                if float(norm(gram)) < tol:
                    break
            if BV is None or float(norm(adjoint(BV) @ U)) < tol:
                break
        return U

    def _svqb(self, U: Tensor, B: Tensor | None) -> Tensor:
        """Returns U times the inverse square root of its Gram matrix (Stathopoulos, Wu 2002).

        Directions whose eigenvalue is below "ortho_tol_drop" times the largest one are left out. Without
        "ortho_use_drop" such eigenvalues are replaced by "ortho_tol_replace" times the largest one.
        """
        gram = hermitian(adjoint(U) @ times(B, U))
        sizes = gram.diagonal().real if gram.is_complex() else gram.diagonal()
        kept = sizes > 0
        if not bool(kept.all()):  # columns of zeros
            U, gram, sizes = U[:, kept], gram[kept][:, kept], sizes[kept]
        if not U.shape[-1]:
            return U
        scale = sizes.rsqrt()
        values, vectors = eigh(gram * scale * scale[:, None])
        largest = float(values[-1])
        if self.bparams["ortho_use_drop"]:
            first = int((values <= self.fparams["ortho_tol_drop"] * largest).sum())
            values, vectors = values[first:], vectors[:, first:]
        else:
            values = values.clamp_min(self.fparams["ortho_tol_replace"] * largest)
        return U @ (vectors * scale[:, None] * values.rsqrt())


Settings = tuple[dict[str, int], dict[str, float], dict[str, bool], str, Any]


def solve(
    A: Tensor, B: Tensor | None, X: Tensor | None, iK: Tensor | None, settings: Settings
) -> tuple[Tensor, Tensor]:
    """Returns the eigenvalues (*, k) and the eigenvectors (*, m, k) of a matrix, or of a batch of them."""
    iparams, fparams, bparams, method, tracker = settings
    k, m, n, batch = iparams["k"], iparams["m"], iparams["n"], A.shape[:-2]

    def one(matrix: Tensor, second: Tensor | None, start: Tensor | None, inverse: Tensor | None, **more: int):
        if start is None:
            start = randn((m, n), dtype=A.dtype, device=A.device)
        made = LOBPCG(matrix, second, start, inverse, iparams | more, fparams, bparams, method, tracker)
        made.run()
        return made.E[:k], made.X[:, :k]

    if not batch:
        return one(A, B, X, iK)

    def listed(t: Tensor | None) -> list[Any]:
        """Returns the matrices of a batch; None and a single matrix serve all."""
        if t is None or t.dim() == 2:
            return [t] * math.prod(batch)
        return list(t.expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:]))

    found = [
        one(*each, batch_index=i)
        for i, each in enumerate(zip(listed(A), listed(B), listed(X), listed(iK), strict=True))
    ]
    if not found:
        real = zeros((), dtype=A.dtype).abs().dtype
        return A.new_empty((*batch, k), dtype=real), A.new_empty((*batch, m, k))
    values, vectors = (stack(parts) for parts in zip(*found, strict=True))
    return values.reshape(*batch, k), vectors.reshape(*batch, m, k)


def with_gradients(
    A: Tensor, B: Tensor | None, X: Tensor | None, iK: Tensor | None, settings: Settings
) -> tuple[Tensor, Tensor]:
    """Returns what :func:`solve` does, with gradients of A and B, which are differentiable themselves."""
    return _eigenpairs().apply(A, B, X, iK, settings)


def _eigenpairs() -> Any:
    """Returns the differentiable step. The class is made at first use, since the plugin autograd brings its base."""
    global _made
    if _made is None:
        Function: Any = sys.modules["lamella.autograd"].Function

        class Eigenpairs(Function):
            @staticmethod
            def forward(ctx, A, B, X, iK, settings):
                values, vectors = solve(A, B, X, iK, settings)
                ctx.save_for_backward(A, B, values, vectors)
                ctx.set_materialize_grads(False)
                return values, vectors

            @staticmethod
            def backward(ctx, grad_values, grad_vectors):
                needs_A, needs_B = ctx.needs_input_grad[:2]
                grad_A, grad_B = gradients(*ctx.saved_tensors, grad_values, grad_vectors)
                return grad_A if needs_A else None, grad_B if needs_B else None, None, None, None

        _made = Eigenpairs
    return _made


_made: Any = None


def gradients(
    A: Tensor,
    B: Tensor | None,
    values: Tensor,
    vectors: Tensor,
    grad_values: Tensor | None,
    grad_vectors: Tensor | None,
) -> tuple[Tensor | None, Tensor | None]:
    """Returns the gradients of A and B, both Hermitian.

    An eigenpair A x = e B x with xᴴBx = 1 changes by de = xᴴ(dA - e dB)x and dx = -M(dA - e dB)x - x (xᴴ dB x) / 2,
    where M r is the y with (A - e B) y = r - Bx (xᴴ r) and xᴴBy = 0. M is Hermitian, so that w = M g of the vector's
    gradient g gives both gradients.

    Raises:
        ValueError: A is sparse
        LinAlgError: an eigenvalue whose vector has a gradient is a multiple one
    """
    if A.layout is not _C.strided or (B is not None and B.layout is not _C.strided):
        raise ValueError("lobpcg: the gradient of a sparse matrix is not computed; call lobpcg(A.to_dense(), ...)")
    grad_A: Any = 0
    grad_B: Any = 0
    if grad_values is not None:
        weighted = vectors * grad_values.unsqueeze(-2)
        grad_A = weighted @ adjoint(vectors)
        grad_B = -(weighted * values.unsqueeze(-2)) @ adjoint(vectors)
    if grad_vectors is not None:
        along = times(B, vectors)
        identity = eye(A.shape[-1], dtype=A.dtype, device=A.device) if B is None else B
        found = []
        for i in range(vectors.shape[-1]):
            column, g = along[..., i : i + 1], grad_vectors[..., i : i + 1]
            shifted = A - values[..., i, None, None] * identity
            corner = zeros_like(column[..., :1, :])
            bordered = cat([cat([shifted, column], -1), cat([adjoint(column), corner], -1)], -2)
            found.append(linear_solve(bordered, cat([g, corner], -2))[..., :-1, :])
        solved = cat(found, -1)
        grad_A = grad_A - solved @ adjoint(vectors)
        if B is not None:
            size = (vectors.conj() * grad_vectors).sum(-2, keepdim=True)
            size = size.real if size.is_complex() else size
            grad_B = grad_B + (solved * values.unsqueeze(-2) - vectors * (size / 2)) @ adjoint(vectors)
    given = grad_values is not None or grad_vectors is not None
    return hermitian(grad_A) if given else None, hermitian(grad_B) if given and B is not None else None
