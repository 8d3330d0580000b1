"""Behaviour planning: from a place, a library and a goal to a sequence of behaviours, for one character or a crowd.

The names that `__init__.pyi` lists are loaded on first use, so that importing the package costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
