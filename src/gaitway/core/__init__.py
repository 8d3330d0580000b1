"""What every room stands on: arrays, rotations, files, the disk cache, errors and compiled kernels."""
