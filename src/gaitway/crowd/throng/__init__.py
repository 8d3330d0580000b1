"""Whole bodies of a throng, moment by moment: they follow the dynamics, and are kept apart limb by limb."""
