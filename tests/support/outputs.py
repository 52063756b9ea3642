#!/usr/bin/env python3
"""Reads outputs without any library, as their formats are published, so that tests do not ask the writer:

    outputs.py vti FILE ARRAY          the array's values, raw
    outputs.py vtp FILE ARRAY          the same as doubles, whatever type the file has but float32
    outputs.py nc FILE                 number of records, bytes that the file lacks for them
    outputs.py nc FILE VARIABLE [K]    values (of record K), little-endian
    outputs.py nc FILE VARIABLE K FIRST COUNT  so many of them
    outputs.py nc FILE :ATTRIBUTE      a text of the file (VARIABLE:ATTRIBUTE: of a variable)
    outputs.py png FILE                width and height
    outputs.py png FILE KEYWORD        a text of the picture
    outputs.py png FILE :points        a checksum of all points
    outputs.py png FILE X Y [X Y ...]  red, green, blue of points, a line for each
"""
import functools
import itertools
import re
import struct
import sys
import zlib


def vti(path, name):
    data = open(path, "rb").read()
    head = data[: data.index(b"<AppendedData")].decode()
    start = data.index(b"_", data.index(b"<AppendedData")) + 1
    assert 'header_type="UInt64"' in head and 'byte_order="LittleEndian"' in head
    offset = int(re.search('Name="%s"[^>]*offset="([0-9]+)"' % name, head).group(1))
    (length,) = struct.unpack_from("<Q", data, start + offset)
    assert data.endswith(b"\n  </AppendedData>\n</VTKFile>\n")
    return data[start + offset + 8 : start + offset + 8 + length]


def vtp(path, name):
    head = open(path, "rb").read().split(b"<AppendedData")[0].decode()
    kind = re.search('type="([A-Za-z0-9]+)" Name="%s"' % name, head).group(1)
    form = {"Float64": "d", "Float32": "f", "Int64": "q", "UInt8": "B"}[kind]
    raw = vti(path, name)
    if form == "f":
        return raw
    count = len(raw) // struct.calcsize(form)
    return struct.pack("<%dd" % count, *struct.unpack("<%d%s" % (count, form), raw))


class Cdf5:
    """The header of CDF-5 (PnetCDF's and NetCDF's 64-bit data format)."""

    SIZE = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}

    def __init__(self, path):
        self.file = open(path, "rb")
        self.at = 4
        assert self.file.read(4) == b"CDF\5"
        self.records = self.number(">q", 8)
        self.dims = [(self.name(), self.number(">q", 8)) for _ in range(self.count(10))]
        self.texts = self.attributes()
        self.variables = {}
        for _ in range(self.count(11)):
            name = self.name()
            dims = [self.number(">q", 8) for _ in range(self.number(">q", 8))]
            texts = self.attributes()
            kind = self.number(">i", 4)
            size, begin = self.number(">q", 8), self.number(">q", 8)
            self.variables[name] = (dims, kind, size, begin, texts)
        varying = [v for v in self.variables.values() if v[0] and self.dims[v[0][0]][1] == 0]
        self.record = sum(v[2] for v in varying)
        self.begin = min([v[3] for v in varying], default=0)

    def number(self, form, size):
        return struct.unpack(form, self.file.read(size))[0]

    def count(self, tag):
        found, many = self.number(">i", 4), self.number(">q", 8)
        assert found == tag or (found == 0 and many == 0)
        return many

    def name(self):
        length = self.number(">q", 8)
        return self.file.read(length + -length % 4)[:length].decode()

    def attributes(self):
        out = {}
        for _ in range(self.count(12)):
            name, kind = self.name(), self.number(">i", 4)
            length = self.number(">q", 8) * self.SIZE[kind]
            out[name] = self.file.read(length + -length % 4)[:length]
        return out

    def values(self, name, k=0, first=0, some=None):
        dims, kind, size, begin, _ = self.variables[name]
        count = 1
        for d in dims:
            count *= self.dims[d][1] or 1
        varies = dims and self.dims[dims[0]][1] == 0
        assert not varies or k < self.records
        count = count - first if some is None else some
        self.file.seek(begin + (k * self.record if varies else 0) + first * self.SIZE[kind])
        letter = {5: "f", 6: "d"}[kind]
        data = self.file.read(count * self.SIZE[kind])
        return struct.pack("<%d%s" % (count, letter), *struct.unpack(">%d%s" % (count, letter), data))

    def lacking(self):
        end = self.file.seek(0, 2)
        return max(0, self.begin + self.records * self.record - end)


class Png:
    def __init__(self, path):
        data = open(path, "rb").read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed, self.texts = 8, b"", {}
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8 : at + 8 + length]
            assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack_from(">IIBB", body)
                self.size = {2: 3, 6: 4}[colour]
                assert depth == 8
            elif kind == b"IDAT":
                packed += body
            elif kind == b"tEXt":
                word, text = body.split(b"\0", 1)
                self.texts[word.decode()] = text.decode("latin-1")
            at += 12 + length
        self.raw = zlib.decompress(packed)
        assert len(self.raw) == self.height * (self.width * self.size + 1)

    @functools.cached_property
    def rows(self):
        """Bytes of the rows, made when the first point is asked for: sizes and texts need none."""
        return self.unfilter(self.raw)

    def unfilter(self, raw):
        stride, size, rows = self.width * self.size, self.size, []
        before = bytes(stride)
        for y in range(self.height):
            kind = raw[y * (stride + 1)]
            row = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
            if kind == 1:
                for c in range(size):
                    row[c::size] = bytes(x & 255 for x in itertools.accumulate(row[c::size]))
            elif kind == 2:
                row = bytes(a + b & 255 for a, b in zip(row, before)) if any(row) else before
            elif kind:
                self.predict(kind, row, before)
            rows.append(bytes(row))
            before = row
        return rows

    def predict(self, kind, row, before):
        size = self.size
        for x in range(len(row)):
            a, b = row[x - size] if x >= size else 0, before[x]
            if kind == 3:
                guess = (a + b) // 2
            else:
                c = before[x - size] if x >= size else 0
                if a == c or b == c:  # what Paeth's predictor comes to where one side does not change
                    guess = b if a == c else a
                else:
                    p = a + b - c
                    guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[x] = row[x] + guess & 255

    def point(self, x, y):
        return tuple(self.rows[y][x * self.size : x * self.size + 3])


def main(kind, path, *rest):
    out = sys.stdout.buffer
    if kind == "vti":
        out.write(vti(path, rest[0]))
    elif kind == "vtp":
        out.write(vtp(path, rest[0]))
    elif kind == "nc":
        file = Cdf5(path)
        if not rest:
            print(file.records, file.lacking())
        elif ":" in rest[0]:
            name, text = rest[0].split(":")
            texts = file.variables[name][4] if name else file.texts
            out.write(texts[text])
        else:
            out.write(file.values(rest[0], *map(int, rest[1:])))
    elif kind == "png":
        file = Png(path)
        if not rest:
            print(file.width, file.height)
        elif rest == (":points",):
            print(file.width, file.height, zlib.crc32(b"".join(file.rows)))
        elif len(rest) == 1:
            print(file.texts[rest[0]])
        else:
            for x, y in zip(rest[::2], rest[1::2]):
                print(*file.point(int(x), int(y)))


main(*sys.argv[1:])
