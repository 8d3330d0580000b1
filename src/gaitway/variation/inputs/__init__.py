"""Which takes a model is learnt from (Lau 2009, section 5.7)."""
