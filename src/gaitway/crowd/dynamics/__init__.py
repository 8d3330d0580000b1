"""Local dynamics of pedestrians: routes around walls, ORCA or social forces, bodies that turn their shoulders."""
