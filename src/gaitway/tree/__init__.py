"""Precomputed search trees: motion grown once, for any place and goal (Lau 2009, chapter 4).

The names that `__init__.pyi` lists are loaded on first use, so that importing the package costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
