"""The software renderer: triangles in, pixels out."""
