"""From plans to motion: clips laid where they were planned, exact arrivals, feet on uneven ground."""
