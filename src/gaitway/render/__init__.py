"""Pictures and film without a screen."""
