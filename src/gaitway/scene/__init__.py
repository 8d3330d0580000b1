"""Scenes: worlds with characters that have starts and goals, read from files.

The names in `__init__.pyi` are loaded on first use, so importing the package costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
