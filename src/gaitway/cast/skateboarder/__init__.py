"""The built-in skateboarder."""
