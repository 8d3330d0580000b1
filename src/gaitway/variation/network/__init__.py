"""The learnt model of how a motion varies, and how it is learnt (Lau 2009, sections 5.2 and 5.3)."""
