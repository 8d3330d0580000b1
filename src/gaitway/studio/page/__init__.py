"""The page of the studio, by viser: it shows a session and posts events."""
