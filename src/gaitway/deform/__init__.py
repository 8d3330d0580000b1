"""Deformable motion: fragments that are bent, stretched and squeezed into a cluttered place (Choi et al. 2011)."""
