"""Floating-point arithmetic in f32, f64, f16 and bf16, exact and approximate.

Bounds of approximate instructions: both sides may be off by the manual's
bound, so a backend may differ from the recording by twice that bound.
"""

from generator.kernel import lane

ROUNDINGS = ("rn", "rz", "rm", "rp")


def generate(suite):
    for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        _rounded(suite, op, count)
    _mad(suite)
    _division(suite)
    _sign(suite)
    _minmax(suite)
    _half_arithmetic(suite)
    _approximate(suite)
    _testp(suite)


def simple(suite, form, type_, count, compare="nan", sm=70, version="8.0",
           **more):
    args = ", ".join("%" + "abc"[i] for i in range(count))
    lane(suite, form, [type_] * count, [(type_, compare)],
         f"{form} %d, {args};", sm=sm, version=version, **more)


def _rounded(suite, op, count):
    roundings = ROUNDINGS if op == "fma" else ("",) + ROUNDINGS
    for rounding in roundings:
        rnd = f".{rounding}" if rounding else ""
        for mods in ("", ".ftz", ".sat", ".ftz.sat"):
            simple(suite, f"{op}{rnd}{mods}.f32", "f32", count)
        simple(suite, f"{op}{rnd}.f64", "f64", count)


def _mad(suite):
    for form in ("mad.rn.f32", "mad.rz.f32", "mad.rn.ftz.f32"):
        simple(suite, form, "f32", 3)
    simple(suite, "mad.rn.f64", "f64", 3)


def _division(suite):
    for rounding in ROUNDINGS:
        simple(suite, f"div.{rounding}.f64", "f64", 2)
        for op in ("rcp", "sqrt"):
            simple(suite, f"{op}.{rounding}.f64", "f64", 1)
        for ftz in ("", ".ftz"):
            simple(suite, f"div.{rounding}{ftz}.f32", "f32", 2)
            for op in ("rcp", "sqrt"):
                simple(suite, f"{op}.{rounding}{ftz}.f32", "f32", 1)


def _sign(suite):
    for op in ("abs", "neg"):
        for type_, sm in (("f32", 70), ("f64", 70), ("f16", 70),
                          ("f16x2", 70), ("bf16", 80), ("bf16x2", 80)):
            simple(suite, f"{op}.{type_}", type_, 1, sm=sm)
        for type_ in ("f32", "f16", "f16x2"):
            simple(suite, f"{op}.ftz.{type_}", type_, 1)
    for type_ in ("f32", "f64"):
        simple(suite, f"copysign.{type_}", type_, 2)


def _minmax(suite):
    for op in ("min", "max"):
        simple(suite, f"{op}.f64", "f64", 2)
        for type_ in ("f32", "f16", "f16x2"):
            for ftz in ("", ".ftz"):
                for nan in ("", ".NaN"):
                    base_sm = 80 if nan or type_ != "f32" else 70
                    simple(suite, f"{op}{ftz}{nan}.{type_}", type_, 2,
                           sm=base_sm)
                    simple(suite, f"{op}{ftz}{nan}.xorsign.abs.{type_}",
                           type_, 2, sm=86)
        for type_ in ("bf16", "bf16x2"):
            for nan in ("", ".NaN"):
                simple(suite, f"{op}{nan}.{type_}", type_, 2, sm=80)
                simple(suite, f"{op}{nan}.xorsign.abs.{type_}", type_, 2,
                       sm=86)


def _half_arithmetic(suite):
    for type_ in ("f16", "f16x2"):
        for op in ("add", "sub", "mul"):
            for mods in ("", ".rn", ".ftz", ".sat", ".ftz.sat"):
                simple(suite, f"{op}{mods}.{type_}", type_, 2)
        for mods in ("", ".ftz", ".sat", ".ftz.sat"):
            simple(suite, f"fma.rn{mods}.{type_}", type_, 3)
        for mods in (".relu", ".ftz.relu"):
            simple(suite, f"fma.rn{mods}.{type_}", type_, 3, sm=80)
    for type_ in ("bf16", "bf16x2"):
        for op in ("add", "sub", "mul"):
            for mods in ("", ".rn"):
                simple(suite, f"{op}{mods}.{type_}", type_, 2, sm=90)
        for mods in ("", ".relu"):
            simple(suite, f"fma.rn{mods}.{type_}", type_, 3, sm=80)


def _approximate(suite):
    unary = (
        ("rcp.approx", "f32", "ulp 4"), ("sqrt.approx", "f32", "ulp 4"),
        ("rsqrt.approx", "f32", "ulp 5"),
        ("ex2.approx", "exp", "ulp 8 abs 2^-147"),
        ("lg2.approx", "f32", "ulp 8 abs 2^-21"),
        ("sin.approx", "trig", "ulp 0 abs 2^-19"),
        ("cos.approx", "trig", "ulp 0 abs 2^-19"))
    for op, pool, compare in unary:
        for ftz in ("", ".ftz"):
            form = f"{op}{ftz}.f32"
            lane(suite, form, [pool], [("f32", compare)], f"{form} %d, %a;")
    lane(suite, "tanh.approx.f32", ["tanh"], [("f32", "ulp 16384")],
         "tanh.approx.f32 %d, %a;", sm=75)
    for op in ("div.approx", "div.full"):
        for ftz in ("", ".ftz"):
            simple(suite, f"{op}{ftz}.f32", "f32", 2, "ulp 4 abs 2^-148")
    gross = "ulp 34359738368"  # about 20 good bits on either side
    simple(suite, "rcp.approx.ftz.f64", "f64", 1, gross)
    simple(suite, "rsqrt.approx.ftz.f64", "f64", 1, gross)
    simple(suite, "rsqrt.approx.f64", "f64", 1, "ulp 4")
    _half_approximate(suite)


def _half_approximate(suite):
    for packed in ("", "x2"):
        lane(suite, f"ex2.approx.f16{packed}", ["hexp" + packed],
             [("f16" + packed, "ulp 6")], f"ex2.approx.f16{packed} %d, %a;",
             sm=75)
        lane(suite, f"ex2.approx.ftz.bf16{packed}", ["bexp" + packed],
             [("bf16" + packed, "ulp 4")],
             f"ex2.approx.ftz.bf16{packed} %d, %a;", sm=90)
        lane(suite, f"tanh.approx.f16{packed}", ["f16" + packed],
             [("f16" + packed, "ulp 0 abs 2^-9")],
             f"tanh.approx.f16{packed} %d, %a;", sm=75)
        lane(suite, f"tanh.approx.bf16{packed}", ["bf16" + packed],
             [("bf16" + packed, "ulp 0 abs 2^-7")],
             f"tanh.approx.bf16{packed} %d, %a;", sm=90)


def _testp(suite):
    for kind in ("finite", "infinite", "number", "notanumber", "normal",
                 "subnormal"):
        for type_ in ("f32", "f64"):
            form = f"testp.{kind}.{type_}"
            lane(suite, form, [type_], ["pred"], f"{form} %d, %a;")
