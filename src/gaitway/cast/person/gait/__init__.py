"""Standing, walking, jogging and stepping back: a fitted gait model and a foot planter."""
