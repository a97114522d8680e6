"""Pools of interesting operand bits, and capped products of them."""

import hashlib
import struct

MASK64 = (1 << 64) - 1


class Rng:
    """SplitMix64: the same stream on every Python version."""

    def __init__(self, key):
        digest = hashlib.sha256(key.encode()).digest()
        self.state = int.from_bytes(digest[:8], "little")

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        return z ^ (z >> 31)

    def pick(self, items):
        return items[self.next() % len(items)]

    def uniform(self, low, high):
        return low + (high - low) * (self.next() / 2.0**64)


# name -> (exponent bits, mantissa bits)
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def float_bits(value, fmt):
    """Bits of `value` truncated to the format (exact for short values)."""
    ebits, mbits = FORMATS[fmt]
    bits64 = struct.unpack("<Q", struct.pack("<d", value))[0]
    sign, exp = bits64 >> 63, (bits64 >> 52) & 0x7FF
    man = bits64 & ((1 << 52) - 1)
    width, bias = 1 + ebits + mbits, (1 << (ebits - 1)) - 1
    if exp == 0x7FF:
        body = ((1 << ebits) - 1) << mbits | (man >> (52 - mbits))
    else:
        exp = exp - 1023 + bias
        if exp >= (1 << ebits) - 1:  # overflow: largest finite
            body = (((1 << ebits) - 1) << mbits) - 1
        elif exp <= 0:  # subnormal or zero
            body = ((1 << 52 | man) >> (52 - mbits + 1 - exp)
                    if exp > -mbits and bits64 << 1 & MASK64 else 0)
        else:
            body = exp << mbits | man >> (52 - mbits)
    return sign << (width - 1) | body


def _float_specials(fmt):
    ebits, mbits = FORMATS[fmt]
    top = ((1 << ebits) - 1) << mbits
    sign = 1 << (ebits + mbits)
    quiet = 1 << (mbits - 1)
    one = ((1 << (ebits - 1)) - 1) << mbits
    positive = [
        0, 1, 2, (1 << mbits) - 1, 1 << mbits, (1 << mbits) + 1,
        one - 1, one, one + 1, top - 1, top, top | quiet, top | quiet | 5,
        top | 1, sign - 1,
    ]
    return positive + [v | sign for v in positive]


_VALUES = [
    0.5, 1.5, 2.0, 2.5, 3.0, 3.5, 0.1, 0.75, 1.0 / 3, 3.14159265358979, 7.0,
    10.0, 100.0, 126.5, 127.0, 127.5, 128.0, 254.5, 255.0, 255.5, 256.0, 1000.5,
    32767.0, 32767.5, 32768.0, 65504.0, 65519.0, 65520.0, 65535.0, 65535.5,
    65536.0, 0.49999997, 0.50000006, 0.49999999999999994, 8388607.5, 8388608.0,
    16777215.0, 16777216.0, 16777217.0, 2147483520.0, 2147483647.0,
    2147483647.5, 2147483648.0, 4294967040.0, 4294967295.0, 4294967295.5,
    4294967296.0, 4503599627370495.5, 9007199254740993.0,
    9223371487098961920.0, 9223372036854774784.0, 9223372036854775808.0,
    18446742974197923840.0, 18446744073709549568.0, 18446744073709551616.0,
    1e-3, 1e-5, 6.1e-5, 5.96e-8, 2.98e-8, 2.9802322387695312e-08, 1e-10, 1e10,
    1e20, 1e-20, 1e-38, 1e-39, 1.1754943508222875e-38, 1e-45,
    7.006492321624085e-46, 3.4028234663852886e38, 3.4028235677973366e38, 1e39,
    1e100, 1e-100, 1e300, 1e-300, 6.103515625e-05, 6.097555160522461e-05,
    65503.99, 1.0009765625, 1.00048828125, 1.000244140625, 1.00390625,
    1.001953125, 1.0000000596046448, 1.00000001,
]


def float_pool(fmt):
    ebits, mbits = FORMATS[fmt]
    width = 1 + ebits + mbits
    pool = _float_specials(fmt)
    for value in _VALUES:
        pool += [float_bits(value, fmt), float_bits(-value, fmt)]
    rng = Rng("float " + fmt)
    for _ in range(60):
        pool.append(rng.next() >> (64 - width))
    for _ in range(60):
        pool.append(float_bits(rng.uniform(-100, 100), fmt))
    return unique(pool)


def float_core(fmt):
    """The few edges whose whole product is always taken."""
    ebits, mbits = FORMATS[fmt]
    top = ((1 << ebits) - 1) << mbits
    sign = 1 << (ebits + mbits)
    return [0, sign, 1, sign | ((1 << mbits) - 1), 1 << mbits,
            float_bits(1.0, fmt), float_bits(-1.0, fmt),
            float_bits(1.5, fmt), float_bits(-2.5, fmt), top - 1,
            sign | (top - 1), top, top | sign, top | 1 << (mbits - 1), top | 1]


def range_pool(fmt, low, high, extra=()):
    """Specials plus uniform values of [low, high]."""
    rng = Rng(f"range {fmt} {low} {high}")
    pool = [v for v in _float_specials(fmt)]
    top = max(abs(low), abs(high))
    pool = [v for v in pool if not _finite_above(v, fmt, top)]
    pool += [float_bits(v, fmt) for v in extra]
    while len(pool) < 256:
        pool.append(float_bits(rng.uniform(low, high), fmt))
    return unique(pool)


def _finite_above(bits, fmt, limit):
    ebits, mbits = FORMATS[fmt]
    body = bits & ((1 << (ebits + mbits)) - 1)
    return float_bits(limit, fmt) < body < ((1 << ebits) - 1) << mbits


def int_pool(width):
    mask = (1 << width) - 1
    pool = [0, mask, mask - 1, mask >> 1, (mask >> 1) + 1, (mask >> 1) + 2,
            (mask >> 1) - 1, 3, 5, 6, 7, 10, 100, mask - 6, mask - 99]
    for bit in range(width):
        pool += [1 << bit, (1 << bit) - 1, mask & ~(1 << bit)]
    pool += [0x5555555555555555 & mask, 0xAAAAAAAAAAAAAAAA & mask,
             0x00FF00FF00FF00FF & mask, 0x0F1E2D3C4B5A6978 & mask,
             0x8000000080000000 & mask, 0x123456789ABCDEF & mask]
    rng = Rng(f"int {width}")
    for _ in range(50):
        pool.append(rng.next() & mask)
    for _ in range(50):  # random magnitude
        value = (rng.next() & mask) >> (rng.next() % width)
        pool.append(value if rng.next() & 1 else -value & mask)
    return unique(pool)


def int_core(width):
    mask = (1 << width) - 1
    half = width // 2
    return unique([0, 1, 2, 7, mask, mask - 1, mask - 6, mask >> 1,
                   (mask >> 1) + 1, (mask >> 1) + 2, 1 << half,
                   (1 << half) - 1, 0x5555555555555555 & mask,
                   0xDEADBEEF12345678 & mask, 0x0F1E2D3C4B5A6978 >> 7 & mask,
                   100])


def unique(values):
    return list(dict.fromkeys(values))


def _halves(pool, core, key):
    rng = Rng(key)
    packed = [value << 16 | rng.pick(pool) for value in pool]
    packed += [rng.pick(pool) << 16 | value for value in core]
    return unique(packed), [value << 16 | core[(i * 7 + 3) % len(core)]
                            for i, value in enumerate(core)]


def _matrix_pools():
    """small*: whole numbers, whose products sum exactly; unit*: [-1, 1)."""
    pools = {}
    for fmt in FORMATS:
        rng = Rng("matrix " + fmt)
        small = [float_bits(rng.next() % 17 - 8.0, fmt) for _ in range(509)]
        unit = [float_bits(rng.uniform(-1, 1), fmt) for _ in range(509)]
        for kind, values in (("small", small), ("unit", unit)):
            pools[kind + fmt] = (values, [])
            packed = [values[i - 1] << 16 | v for i, v in enumerate(values)]
            if fmt in ("f16", "bf16"):
                pools[kind + fmt + "x2"] = (packed, [])
    rng = Rng("noise")
    pools["noise"] = ([rng.next() & 0xFFFFFFFF for _ in range(509)], [])
    return pools


def _make_pools():
    pools = {}
    for width in (8, 16, 32, 64):
        pools[f"b{width}"] = (int_pool(width), int_core(width))
        nonzero = [v for v in int_pool(width) if v]
        pools[f"nz{width}"] = (nonzero, [v for v in int_core(width) if v])
    for fmt in FORMATS:
        pools[fmt] = (float_pool(fmt), float_core(fmt))
    for fmt in ("f16", "bf16"):
        pools[fmt + "x2"] = _halves(*pools[fmt], fmt)
    shifts = list(range(72)) + [95, 96, 127, 128, 255, 256, 257, 65535, 65536,
                                0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    pools["shift"] = (shifts, [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255,
                               256, 0xFFFFFFFF, 0x80000001])
    pools["len"] = (list(range(67)) + [255, 256, 0x101, 0xFFFFFFFF],
                    [0, 1, 5, 8, 31, 32, 64, 255])
    pools["zero32"], pools["zero64"], pools["zero16"] = (([0], [0]),) * 3
    pools["bool"] = ([0, 1], [0, 1])
    pools["trig"] = (range_pool("f32", -6.2831853, 6.2831853,
                                [1.5707963, 3.1415927, -3.1415927]), [])
    pools["exp"] = (range_pool("f32", -160.0, 140.0,
                               [-149, -150, -126, 127, 128, 127.9999]), [])
    pools["tanh"] = (range_pool("f32", -12.0, 12.0), [])
    pools["hexp"] = (range_pool("f16", -26.0, 17.0), [])
    pools["bexp"] = (range_pool("bf16", -140.0, 130.0), [])
    pools.update(_matrix_pools())
    for name in ("hexp", "bexp"):
        pools[name + "x2"] = (_halves(pools[name][0], pools[name][0][:8],
                                      name)[0], [])
    return pools


POOLS = _make_pools()


def column_key(names, count):
    return f"{','.join(names)}:{count}"


def columns(names, count):
    """One column of `count` values per pool name: the whole product of the
    cores while it fits in half of the rows, the rest drawn from the pools."""
    if len(names) == 1:
        pool = POOLS[names[0]][0]
        return [[pool[i % len(pool)] for i in range(count)]]
    cores = [list(POOLS[name][1] or POOLS[name][0]) for name in names]
    while _product(cores) > count * 5 // 8:
        longest = max(cores, key=len)
        longest.pop(len(longest) // 2)
    rows = [[]]
    for core in cores:
        rows = [row + [value] for row in rows for value in core]
    rng = Rng(column_key(names, count))
    while len(rows) < count:
        rows.append([rng.pick(POOLS[name][0]) for name in names])
    return [list(column) for column in zip(*rows[:count])]


def _product(cores):
    total = 1
    for core in cores:
        total *= len(core)
    return total
