"""Scene files: YAML text, validated documents, and messages about what is wrong in them."""
