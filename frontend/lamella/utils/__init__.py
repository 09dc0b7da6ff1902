"""Helpers around the operators: ``lamella.utils``."""
