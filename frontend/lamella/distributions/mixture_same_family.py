"""MixtureSameFamily: draws of one of several distributions of a family."""

from __future__ import annotations

from typing import Any

from lamella._history import no_history
from lamella.distributions import constraints
from lamella.distributions.categorical import Categorical
from lamella.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Draws of one of several distributions of a family: those along the last dimension of a batch.

    Args:
        mixture_distribution: a Categorical, which chooses the component
        component_distribution: a distribution whose last batch dimension counts the components

    Raises:
        ValueError: the first is no Categorical, the second no Distribution, or their shapes do not fit

    >>> d = lamella.distributions
    >>> both = d.MixtureSameFamily(d.Categorical(lamella.ones(2)), d.Normal(lamella.tensor([-1.0, 1.0]), 1.0))
    >>> both.mean, both.variance
    (tensor(0.), tensor(2.))
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("MixtureSameFamily: the mixture distribution must be a Categorical distribution")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("MixtureSameFamily: the component distribution must be a Distribution")
        mixing, components = mixture_distribution.batch_shape, component_distribution.batch_shape
        count = mixture_distribution._num_events
        batch = components[:-1]
        for i, j in zip(reversed(mixing), reversed(batch), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"MixtureSameFamily: batches {tuple(mixing)} and {tuple(batch)} do not fit")
        if not components or components[-1] != count:
            raise ValueError(
                f"MixtureSameFamily: {count} probabilities need {count} components in the last dimension of the batch, "
                f"got batch shape {tuple(components)}"
            )
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._num_component, self._event_ndims = count, len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def _expand_into(self, made: Any, shape: Any) -> None:
        made._component_distribution = self._component_distribution.expand((*shape, self._num_component))
        made._mixture_distribution = self._mixture_distribution.expand(shape)
        made._num_component, made._event_ndims = self._num_component, self._event_ndims

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        """The support of the components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution that chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The distributions of the components."""
        return self._component_distribution

    @property
    def _wide_probs(self) -> Any:
        """The probabilities of the components, with the dimensions of an event."""
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    @property
    def mean(self) -> Any:
        return (self._wide_probs * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        """The mean of the components' variances plus the variance of their means."""
        dim, probs, means = -1 - self._event_ndims, self._wide_probs, self._component_distribution.mean
        within = (probs * self._component_distribution.variance).sum(dim)
        return within + (probs * (means - self.mean.unsqueeze(dim)).square()).sum(dim)

    def _wide(self, value: Any) -> Any:
        return value.unsqueeze(-1 - self._event_ndims)

    def cdf(self, value: Any) -> Any:
        return (self._component_distribution.cdf(self._wide(value)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return (self._component_distribution.log_prob(self._wide(value)) + self._mixture_distribution.logits).logsumexp(
            -1
        )

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_history():
            drawn, dim = self._component_distribution.sample(sample_shape), -1 - self._event_ndims
            chosen = self._mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            sizes = list(drawn.shape)
            sizes[dim] = 1
            return drawn.gather(dim, index.expand(sizes)).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"
