"""Limbs: joints that know anatomy, analytic IK, limbs that are planned anew in time, and reaches of standing bodies.

After Shapiro et al. 2007 and Kallmann et al. 2003.
"""

from gaitway.limbs.linkage import ARMS, LEGS, LIMBS, Limb, LimbLimits, find_limb, fit_limb, fit_limits
from gaitway.limbs.reaching import Reach, reach_posture, reach_postures, solve_limb

__all__ = [
    "ARMS", "LEGS", "LIMBS", "Limb", "LimbLimits", "Reach", "find_limb", "fit_limb", "fit_limits", "reach_posture",
    "reach_postures", "solve_limb",
]  # fmt: skip
