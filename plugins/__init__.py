"""Plugins: what is installed, what is loaded, and why something is not.

>>> import lamella
>>> [p.name for p in lamella.plugins.status() if p.state == "loaded" and p.name == "cpu"]
['cpu']
"""

from lamella.dispatcher.manager import Plugin, PluginContext, hookimpl, load, manager, status

__all__ = ["Plugin", "PluginContext", "hookimpl", "load", "manager", "status"]
