"""What can be chosen when variation is learnt."""

from __future__ import annotations

from dataclasses import dataclass, field

from gaitway.variation.network.dofs import Mode
from gaitway.variation.network.prior import PriorSearch
from gaitway.variation.network.regression import Kernel
from gaitway.variation.network.transition import Search


@dataclass(frozen=True)
class LearnOptions:
    """How variation is learnt; the defaults are for motion of people at 30 to 60 Hz."""

    mode: Mode = "exponential"
    """Rotations as exponential maps about the mean, or as Euler angles."""
    cyclic: bool | None = None
    """Whether the motion repeats; None: it does if every take ends as it began, and moves there."""
    kernel: Kernel = field(default_factory=Kernel)
    search: Search = field(default_factory=Search)
    prior: PriorSearch = field(default_factory=PriorSearch)
    literal: bool = False
    """The method as the thesis has it: no clock, steps without a pull, independent draws, means in re-synthesis."""
    given: tuple[str, ...] = ()
    """Joints, or parts of the body, that are never generated but tell where the others go (chapter 6)."""
    natural: float = 2.5
    """How far from the mean a part of the body may go in a frame, root mean square in deviations between takes: the
    logarithm of its likelihood under the takes falls by half the square of it, times the degrees of freedom."""
    seed: int = 0

    @classmethod
    def thesis(cls, mode: Mode = "euler", seed: int = 0) -> LearnOptions:
        """Chapter 5 as it is written."""
        return cls(
            mode=mode,
            kernel=Kernel(neighbours=20, width=0.5, pull=0.0, clock=0.0, taper=False, span=0.15),
            search=Search(floor=0.01, noise=0.0),
            prior=PriorSearch(steps=False, whole_takes=False, at_start=False),
            literal=True,
            seed=seed,
        )
