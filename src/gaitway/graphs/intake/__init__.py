"""From a folder of raw captures to a library."""
