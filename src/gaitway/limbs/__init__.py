"""Limbs: joints that know anatomy, analytic IK, and limbs that are planned anew in time (Shapiro et al. 2007)."""

from gaitway.limbs.linkage import ARMS, LEGS, LIMBS, Limb, LimbLimits, find_limb, fit_limb, fit_limits
from gaitway.limbs.reaching import Reach, reach_posture, solve_limb

__all__ = [
    "ARMS", "LEGS", "LIMBS", "Limb", "LimbLimits", "Reach", "find_limb", "fit_limb", "fit_limits", "reach_posture",
    "solve_limb",
]  # fmt: skip
