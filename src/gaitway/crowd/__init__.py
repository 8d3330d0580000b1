"""Throngs: local dynamics of pedestrians, and whole bodies that follow any trajectory (Esteves et al. 2006)."""
