"""Second step of an import: recognition of what a captured person does in every frame."""
