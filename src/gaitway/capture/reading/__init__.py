"""Raw capture files to takes on one level floor."""
