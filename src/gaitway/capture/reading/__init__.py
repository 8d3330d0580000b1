"""First step of an import: raw capture files become takes on one level floor."""
