"""One folder a backend. They are found through the entry-point group ``lamella.backends``."""
