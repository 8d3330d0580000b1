"""Third step of an import: takes are cut into pieces, whose ends are led to shared poses (hubs)."""
