"""Maps: a scene from above."""
