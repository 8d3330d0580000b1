"""Plans drawn straight: no weave between clips that turn to either side, within what stays free."""
