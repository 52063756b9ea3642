"""Winds and terrain for case.yaml, from NumPy: a tracer is carried round by swirls over a mountain.

Writes psi.npy, u1.npy, u2.npy and h.npy. After the run, `python3 winds.py check OUT` compares what the tracer was with
what it is."""

import sys

import numpy as np

ROWS, COLS = 128, 192
i, j = np.mgrid[0:ROWS, 0:COLS]

# Depth of the air over a mountain: h is what a cell holds of the tracer for each unit of psi.
h = 1.0 - 0.6 * np.exp(-((i - 70) ** 2 + (j - 125) ** 2) / 300.0)
psi = np.where((i - 36) ** 2 + (j - 80) ** 2 < 22**2, 1.0, 0.0)


def winds():
    # A stream function at the corners of cells: its differences along the faces are h-weighted Courant numbers, and as
    # much flows into every cell as out of it, whatever h is. It is constant along the edges: nothing leaves.
    x = np.arange(ROWS + 1)[:, None] / ROWS
    y = np.arange(COLS + 1)[None, :] / COLS
    stream = 8.0 * np.sin(np.pi * x) * (np.sin(np.pi * y) + 0.5 * np.sin(3 * np.pi * y))
    u1 = stream[:, :-1] - stream[:, 1:]  # through the faces between rows i-1 and i
    u2 = stream[1:, :] - stream[:-1, :]  # and between columns j-1 and j
    return u1, u2


if sys.argv[1:2] == ["check"]:
    last = np.load(sys.argv[2] + "/psi_00001200.npy")
    print("mass: %.12f of what it was" % (np.sum(h * last) / np.sum(h * psi)))
    print("psi from %.6f to %.6f, from 0 to 1 before" % (last.min(), last.max()))
else:
    u1, u2 = winds()
    for name, array in (("psi", psi), ("u1", u1), ("u2", u2), ("h", h)):
        np.save(name + ".npy", array)
