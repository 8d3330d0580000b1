"""What every planner asks of a place: distance fields, routes, traffic, safe intervals, body checks and plans."""
