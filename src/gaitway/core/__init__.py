"""The lowest floor: arrays, rotations, files, the disk cache, errors and compiled kernels."""
