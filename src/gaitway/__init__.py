"""Plan and synthesise full-body motion for crowds of virtual people."""

from gaitway._version import __version__

__all__ = ["__version__"]
