"""Clips made and judged, and the library that is assembled from them."""
