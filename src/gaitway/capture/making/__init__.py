"""Fourth step of an import: clips are made and checked, and a library is assembled from them."""
