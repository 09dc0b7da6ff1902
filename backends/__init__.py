"""Backends, one folder each, which are found through the entry-point group ``lamella.backends``."""
