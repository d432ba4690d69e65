#!/usr/bin/env python3
"""Prints the tables of src/wire/lloyd_max.h: for 1 to 8 bits, the positive centroids of the Lloyd-Max quantiser of
the normal distribution. Newton's method on Lloyd's conditions, in 40 digits (needs mpmath)."""

from mpmath import erfinv, mp, mpf, ncdf, npdf, sqrt, inf

mp.dps = 40


def solve(levels):
    """Centroids c with c_k = E[z | cell k]; cell k lies between the midpoints to its neighbours, and begins at 0."""
    c = [sqrt(6) * erfinv((k + mpf(1) / 2) / levels) for k in range(levels)]  # Panter and Dite's, to begin with
    for _ in range(100):
        edges = [mpf(0)] + [(a + b) / 2 for a, b in zip(c, c[1:])] + [inf]
        p = [npdf(e) if e != inf else mpf(0) for e in edges]
        mass = [ncdf(b) - ncdf(a) if b != inf else ncdf(-a) for a, b in zip(edges, edges[1:])]
        mean = [(p[k] - p[k + 1]) / mass[k] for k in range(levels)]
        f = [c[k] - mean[k] for k in range(levels)]
        # Tridiagonal: an edge moves by half of what a neighbouring centroid moves, and moves its cell's mean.
        low = [-(mean[k] - edges[k]) * p[k] / mass[k] / 2 if k > 0 else mpf(0) for k in range(levels)]
        high = [-(edges[k + 1] - mean[k]) * p[k + 1] / mass[k] / 2 if k + 1 < levels else mpf(0) for k in range(levels)]
        diagonal = [1 + low[k] + high[k] for k in range(levels)]
        for k in range(1, levels):
            factor = low[k] / diagonal[k - 1]
            diagonal[k] -= factor * high[k - 1]
            f[k] -= factor * f[k - 1]
        step = [mpf(0)] * levels
        for k in reversed(range(levels)):
            step[k] = (f[k] - (high[k] * step[k + 1] if k + 1 < levels else 0)) / diagonal[k]
        c = [a - b for a, b in zip(c, step)]
        if max(abs(s) for s in step) < mpf(10) ** -30:
            # E[(z - q)^2] = 1 - E[q^2], because each q is its cell's mean.
            return c, 1 - 2 * sum(m * a * a for m, a in zip(mass, c))
    raise RuntimeError(f"{levels} levels: no end")


for bits in range(1, 9):
    centroids, distortion = solve(2 ** (bits - 1))
    print(f"    // {bits} bits: distortion {mp.nstr(distortion, 6)}")
    for first in range(0, len(centroids), 8):
        print("    " + " ".join(mp.nstr(c, 9, strip_zeros=False, min_fixed=-9) + "f," for c in centroids[first:first + 8]))
