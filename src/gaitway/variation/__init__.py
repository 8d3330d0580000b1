"""How motion varies from take to take: learnt from a few takes, sampled without end (Lau 2009, chapters 5 and 6).

The names that `__init__.pyi` lists are loaded on first use, so that importing the package costs nothing. The sub-rooms
import downward only: `network` (the model), `sampling` (new motion), `inputs` (takes to learn from), `learning`,
`evaluation`; above them `tasks`, `generators` and `enriching`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
