"""Bodies to draw: people, the horse and the skateboarder."""
