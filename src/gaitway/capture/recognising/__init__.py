"""What a captured person does, frame by frame and stretch by stretch."""
