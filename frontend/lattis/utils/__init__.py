"""Helpers around the operators: ``lattis.utils``."""
