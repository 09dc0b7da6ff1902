"""Plugins: what is installed, what is loaded, and why something is not.

>>> import lattis
>>> [p.name for p in lattis.plugins.status() if p.state == "loaded" and p.name == "cpu"]
['cpu']
"""

from lattis.dispatcher.manager import Plugin, PluginContext, hookimpl, load, manager, status

__all__ = ["Plugin", "PluginContext", "hookimpl", "load", "manager", "status"]
