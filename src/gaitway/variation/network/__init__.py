"""The model of how a motion varies: its networks and the search for their structure (Lau 2009, 5.2 and 5.3)."""
