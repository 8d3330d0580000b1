"""Places with several levels: everything that a body can stand on, also at several heights over one point."""
