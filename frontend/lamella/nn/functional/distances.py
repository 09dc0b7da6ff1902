"""Distances and similarities of vectors, which are operators with the signatures of these functions."""

from lamella.nn.functional._operators import op

__all__ = ["bilinear", "cosine_similarity", "pairwise_distance", "pdist"]

cosine_similarity, pairwise_distance, pdist = op("cosine_similarity"), op("pairwise_distance"), op("pdist")
bilinear = op("bilinear")
