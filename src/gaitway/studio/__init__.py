"""The studio: a live scene in a browser, to be watched, edited and directed.

The package can be called: `gaitway.studio("market_square")` opens the studio; see `gaitway.studio.serving.studio`.
"""

from typing import TYPE_CHECKING

from gaitway.core.callable_package import make_callable

if TYPE_CHECKING:
    from gaitway.studio.serving import studio as studio

make_callable(__name__, "gaitway.studio.serving", "studio")

__all__ = ["studio"]
