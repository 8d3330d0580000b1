"""Search trees as the thesis describes them (Lau 2009, chapter 4), for comparison. Only papers and tests use them."""
