"""Plan and synthesise full-body motion for crowds of virtual people.

The names that `__init__.pyi` lists are loaded on first use, so that importing the package costs nothing.
"""

import lazy_loader

from gaitway._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
