"""Numbers that the thesis reports of its trees (Lau 2009, tables 4.1 to 4.3)."""

from __future__ import annotations

SPST, PST, IP = "SPST", "original PST, k = 100", "Branicky et al. I-P"
SIZES = (250, 100, 50, 25, 10, 5)
"""Sizes of the trees in table 4.1 [KB]."""
TABLE_1: dict[str, dict[str, tuple[float | None, ...]]] = {
    SPST: {
        "success": (73.44, 71.75, 69.48, 67.88, 54.55, 39.38),
        "seconds": (1.2, 0.8, 0.6, 0.5, 0.4, 0.4),
        "density": (None, None, 28_752, 11_403, 4_162, 1_650),
        "cost": (None, None, 110.09, None, None, None),
        "spread": (None, None, 8.80, None, None, None),
    },
    PST: {
        "success": (60.37, 40.30, 39.12, 21.92, 21.16, 6.32),
        "seconds": (0.043, 0.021, 0.014, 0.011, 0.009, 0.008),
        "density": (None, None, 109_039, 47_976, 11_098, 5_542),
        "cost": (None, None, 103.79, None, None, None),
        "spread": (None, None, 10.40, None, None, None),
    },
    IP: {
        "success": (65.09, 54.38, 46.04, 40.22, 23.02, 10.37),
        "seconds": (720, 126, 38, 14, 7, 5),
        "density": (None, None, 66_270, 23_059, 6_960, 3_298),
        "cost": (None, None, 102.19, None, None, None),
        "spread": (None, None, 2.28, None, None, None),
    },
    "Branicky et al. I-E": {
        "success": (35.33, 26.22, 21.84, 10.79, 7.76, 4.72),
        "seconds": (780, 138, 49, 21, 11, 9),
        "density": (None, None, 120_155, 42_329, 13_347, 5_309),
        "cost": (None, None, 121.87, None, None, None),
        "spread": (None, None, 20.13, None, None, None),
    },
    "Green and Kelly": {
        "success": (68.89, 66.27, 62.48, 57.93, 48.82, 31.87),
        "seconds": (11_460, 1_800, 480, 80, 19, 6),
        "density": (None, None, 55_019, 16_526, 4_285, 1_841),
        "cost": (None, None, 112.02, None, None, None),
        "spread": (None, None, 8.22, None, None, None),
    },
}
"""Table 4.1: quantities by method, one value for each size."""
EXHAUSTIVE = 71.16
"""Share of the queries that the thesis's exhaustive tree answers [%]."""
TABLE_2 = {
    "A*": {"time": 100.0, "checks": 100.0, "success": 97.91, "cost": 100.0},
    "A*, weight 2": {"time": 79.42, "checks": 12.31, "success": 97.91, "cost": 105.12},
    "SPST, 50 MB": {"time": 0.47, "checks": 7.27, "success": 94.76, "cost": 113.80},
    "SPST, 25 MB": {"time": 0.44, "checks": 4.23, "success": 93.63, "cost": 115.48},
}
"""Table 4.2, random queries: time, checks and cost in percent of those of A*, and success [%]."""
TABLE_2_C = {
    "A*": {"time": 2_411_505, "checks": 2_885_740, "cost": 786},
    "A*, weight 2": {"time": 1_276_468, "checks": 1_559_632, "cost": 846},
    "SPST, 25 MB": {"time": 461, "checks": 210, "cost": 884},
}
"""Table 4.2, the C-shaped obstacle: time [us], number of cells that were looked up, and cost."""
TABLE_3 = {
    "A*": {
        270: {"time": 100.0, "micro": 104_880, "success": 97.91},
        540: {"time": 100.0, "micro": 151_770, "success": 97.91},
        1080: {"time": 100.0, "micro": 340_195, "success": 97.91},
    },
    "SPST, 25 MB": {
        270: {"time": 0.41, "micro": 333, "success": 93.63},
        540: {"time": 0.52, "micro": 690, "success": 94.31},
        1080: {"time": 0.80, "micro": 2_652, "success": 94.76},
    },
}
"""Table 4.3, by number of cells along a side: time in percent of that of A*, mean time of answered queries [us], and
success [%]."""
