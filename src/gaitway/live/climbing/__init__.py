"""Live crowds on several floors: who climbs which stairs, with which clips, and where everybody is in the place."""
