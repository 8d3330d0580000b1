"""Characters of a scene: groups as they are written, and where each member is placed."""
