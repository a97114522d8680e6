"""cvt between all pairs of types, with roundings, saturation and ftz."""

from generator.kernel import WIDTH, lane, pool_of

INTS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
COUNT = 320


def generate(suite):
    _int_to_int(suite)
    _float_to_int(suite)
    _int_to_float(suite)
    _float_to_float(suite)
    _round_to_integral(suite)
    _packed(suite)


def source_pool(type_):
    """Eight-bit sources sit in wider registers whose high bits are noise."""
    return "b32" if type_ in ("u8", "s8") else pool_of(type_)


def dest(type_):
    return "b32" if WIDTH[type_] == 8 else pool_of(type_)


def cvt(suite, mods, to, source, sm=70):
    if "bf16" in (to, source) and 8 in (WIDTH[to], WIDTH[source]):
        return  # the instruction set has no such pair
    form = f"cvt{mods}.{to}.{source}"
    lane(suite, form, [source_pool(source)], [dest(to)], f"{form} %d, %a;",
         sm=sm, count=COUNT)


def _int_to_int(suite):
    for to in INTS:
        for source in INTS:
            cvt(suite, "", to, source)
            if not _contains(to, source):
                cvt(suite, ".sat", to, source)


def _contains(to, source):
    if to[0] == source[0]:
        return WIDTH[to] >= WIDTH[source]
    return to[0] == "s" and WIDTH[to] > WIDTH[source]


def _bf_sm(*types):
    return 90 if "bf16" in types else 70


def _float_to_int(suite):
    for source in FLOATS:
        for to in INTS:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                cvt(suite, f".{rounding}", to, source, _bf_sm(source))
            if source == "f32":
                cvt(suite, ".rzi.ftz", to, source)
                cvt(suite, ".rni.ftz.sat", to, source)
    for rounding in ("rmi", "rpi"):
        cvt(suite, f".{rounding}.ftz", "s32", "f32")
    for to in ("s32", "u32"):
        cvt(suite, ".rzi.ftz.sat", to, "f32")
        cvt(suite, ".rni.ftz", to, "f32")


def _int_to_float(suite):
    for to in FLOATS:
        for source in INTS:
            for rounding in ("rn", "rz", "rm", "rp"):
                cvt(suite, f".{rounding}", to, source, _bf_sm(to))
    cvt(suite, ".rn.sat", "f32", "s32")


def _float_to_float(suite):
    for rounding in ("rn", "rz", "rm", "rp"):
        for mods in ("", ".ftz", ".sat", ".ftz.sat"):
            cvt(suite, f".{rounding}{mods}", "f32", "f64")
        cvt(suite, f".{rounding}", "f16", "f64")
        cvt(suite, f".{rounding}", "bf16", "f64", 90)
    for rounding in ("rn", "rz", "rm", "rp"):
        for mods in ("", ".ftz", ".sat"):
            cvt(suite, f".{rounding}{mods}", "f16", "f32")
    for rounding in ("rn", "rz", "rm", "rp"):
        cvt(suite, f".{rounding}", "bf16", "f32", 80 if rounding in
            ("rn", "rz") else 90)
    for rounding in ("rn", "rz"):
        cvt(suite, f".{rounding}.relu", "bf16", "f32", 80)
        cvt(suite, f".{rounding}.relu", "f16", "f32", 80)
    for to, source, mods in (("f64", "f32", ("", ".ftz", ".sat")),
                             ("f32", "f16", ("", ".ftz", ".sat")),
                             ("f64", "f16", ("", ".sat")),
                             ("f32", "f32", (".sat", ".ftz.sat", ".ftz")),
                             ("f64", "f64", (".sat",)),
                             ("f16", "f16", (".sat",))):
        for mod in mods:
            cvt(suite, mod, to, source)
    cvt(suite, "", "f32", "bf16", 90)
    cvt(suite, "", "f64", "bf16", 90)
    cvt(suite, ".rn", "bf16", "f16", 90)
    cvt(suite, ".rn", "f16", "bf16", 90)
    lane(suite, "cvt.rna.tf32.f32", ["f32"], ["f32"],
         "cvt.rna.tf32.f32 %d, %a;", sm=80)


def _round_to_integral(suite):
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        for mods in ("", ".ftz", ".sat"):
            cvt(suite, f".{rounding}{mods}", "f32", "f32")
        cvt(suite, f".{rounding}", "f64", "f64")
        cvt(suite, f".{rounding}", "f16", "f16")
        cvt(suite, f".{rounding}", "bf16", "bf16", 90)


def _packed(suite):
    for to in ("f16x2", "bf16x2"):
        for mods in (".rn", ".rz", ".rn.relu", ".rz.relu"):
            form = f"cvt{mods}.{to}.f32"
            lane(suite, form, ["f32", "f32"], [to], f"{form} %d, %a, %b;",
                 sm=80)
    for to in ("e4m3x2", "e5m2x2"):
        form = f"cvt.rn.satfinite.{to}.f32"
        lane(suite, form, ["f32", "f32"], ["b16"], f"{form} %d, %a, %b;",
             sm=89, version="8.1")
        form = f"cvt.rn.satfinite.{to}.f16x2"
        lane(suite, form, ["f16x2"], ["b16"], f"{form} %d, %a;", sm=89,
             version="8.1")
        form = f"cvt.rn.f16x2.{to}"
        lane(suite, form, ["b16"], ["f16x2"], f"{form} %d, %a;", sm=89,
             version="8.1")
    for to in ("u16", "s16"):
        form = f"cvt.pack.sat.{to}.s32"
        lane(suite, form, ["b32", "b32"], ["b32"], f"{form} %d, %a, %b;",
             sm=72)
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        form = f"cvt.pack.sat.{to}.s32.b32"
        lane(suite, form, ["b32"] * 3, ["b32"], f"{form} %d, %a, %b, %c;",
             sm=72 if to[1:] == "8" else 75)
