"""The public names of ``lamella.plugins``: the installed plugins, their states, and the reasons of failures.

>>> import lamella
>>> [p.name for p in lamella.plugins.status() if p.state == "loaded" and p.name == "cpu"]
['cpu']
"""

from lamella.plugins.contributions import POINTS, Contribution, Keyword
from lamella.plugins.manager import (
    Plugin,
    PluginContext,
    Waiting,
    contributed,
    hookimpl,
    load,
    manager,
    settings,
    status,
    waiting,
)

__all__ = [
    "POINTS",
    "Contribution",
    "Keyword",
    "Plugin",
    "PluginContext",
    "Waiting",
    "contributed",
    "hookimpl",
    "load",
    "manager",
    "settings",
    "status",
    "waiting",
]
