"""Motion out of capture: pose distances, motion graphs, snap-together hubs, and libraries made of raw takes."""
