"""Engines, which move memory between processes. Each package that has one names it by an entry point."""
