"""Measures of how good variants are, beside takes and noise (Lau 2009, section 5.6)."""
