#!/usr/bin/env python3
"""Makes terrain as ESRI ASCII grids on standard output; needs nothing but Python.

    make.py jacksboro NPZ     real terrain from jacksboro_fault_dem.npz of matplotlib's sample data
    make.py plane DEGREES     a plane that falls to the south, 200 x 100 cells of 10 m
    make.py cone DEGREES      a cone, 201 x 201 cells of 10 m
    make.py pyramid           the octagonal pyramid of SCIARA's test: 203 x 203 cells of 10 m, 5 degrees
"""
import ast
import math
import struct
import sys
import zipfile


def write(rows, cell, x=0.0, y=0.0, text="%.3f"):
    """rows from north to south; x, y: the south-west corner."""
    print(f"ncols {len(rows[0])}\nnrows {len(rows)}\nxllcorner {x:.10g}\nyllcorner {y:.10g}\n"
          f"cellsize {cell:.10g}\nNODATA_value -9999")
    for row in rows:
        print(" ".join("-9999" if z is None else text % z for z in row))


def geographic(zone, x, y):
    """Longitude and latitude [degree] of UTM north (Krueger's series to the third power: a centimetre)."""
    f = 1 / 298.257223563
    n, e = f / (2 - f), math.sqrt(f * (2 - f))
    radius = 0.9996 * 6378137 / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
    beta = [n / 2 - 2 * n**2 / 3 + 37 * n**3 / 96, n**2 / 48 + n**3 / 15, 17 * n**3 / 480]
    xi, eta = y / radius, (x - 500000) / radius
    north = xi - sum(b * math.sin(2 * k * xi) * math.cosh(2 * k * eta) for k, b in enumerate(beta, 1))
    east = eta - sum(b * math.cos(2 * k * xi) * math.sinh(2 * k * eta) for k, b in enumerate(beta, 1))
    conformal = math.asin(math.sin(north) / math.cosh(east))
    phi = conformal
    for _ in range(20):
        phi = math.asin(math.tanh(math.atanh(math.sin(conformal)) + e * math.atanh(e * math.sin(phi))))
    return 6 * zone - 183 + math.degrees(math.atan2(math.sinh(east), math.cos(north))), math.degrees(phi)


def array(data):
    """Shape and numbers of a .npy file."""
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    kind = {"<i2": "h", "<f8": "d"}[head["descr"]]
    body = data[10 + length:]
    return head["shape"], struct.unpack(f"<{len(body) // struct.calcsize(kind)}{kind}", body)


def jacksboro(path):
    """The samples lie 3 arc-seconds apart; they are interpolated to square cells of 90 m in UTM zone 16."""
    with zipfile.ZipFile(path) as store:
        (rows, cols), z = array(store.read("elevation.npy"))
        step = array(store.read("dx.npy"))[1][0]
        west = array(store.read("xmin.npy"))[1][0]
        north = max(array(store.read(name))[1][0] for name in ("ymin.npy", "ymax.npy"))
    cell, left, top = 90.0, 731000.0, 4068000.0

    def at(x, y):
        longitude, latitude = geographic(16, x, y)
        j, i = (longitude - west) / step - 0.5, (north - latitude) / step - 0.5
        if not (0 <= i <= rows - 1 and 0 <= j <= cols - 1):
            return None
        i0, j0 = min(int(i), rows - 2), min(int(j), cols - 2)
        a, b = i - i0, j - j0
        corner = [z[(i0 + k // 2) * cols + j0 + k % 2] for k in range(4)]
        return ((1 - a) * ((1 - b) * corner[0] + b * corner[1]) +
                a * ((1 - b) * corner[2] + b * corner[3]))

    grid = [[at(left + (j + 0.5) * cell, top - (i + 0.5) * cell) for j in range(343)] for i in range(359)]
    grid = [row for row in grid if any(value is not None for value in row)]
    write(grid, cell, left, top - len(grid) * cell, "%.1f")


def plane(degrees):
    slope = math.tan(math.radians(degrees))
    write([[(199 - i) * 10 * slope] * 100 for i in range(200)], 10)


def cone(degrees):
    slope = math.tan(math.radians(degrees))
    write([[(1500 - 10 * math.hypot(i - 100, j - 100)) * slope for j in range(201)] for i in range(201)], 10)


def pyramid():
    """Eight faces, whose normals lie between the axes and the diagonals: the edges are these eight directions."""
    slope = math.tan(math.radians(5))
    normals = [math.radians(22.5 + 45 * k) for k in range(8)]
    write([[1000 - 10 * slope * max((j - 101) * math.cos(t) + (i - 101) * math.sin(t) for t in normals)
            for j in range(203)] for i in range(203)], 10)


if __name__ == "__main__":
    made = {"jacksboro": jacksboro, "plane": lambda d: plane(float(d)), "cone": lambda d: cone(float(d)),
            "pyramid": pyramid}
    if len(sys.argv) < 2 or sys.argv[1] not in made:
        sys.exit(__doc__)
    made[sys.argv[1]](*sys.argv[2:])
