"""Motion that was made for a level floor, put onto the ground of a world."""
