"""Planning in places with several floors: links from floor to floor, routes over them, and plans made of legs."""
