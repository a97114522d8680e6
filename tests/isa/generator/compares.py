"""Comparison, selection and set instructions."""

from generator.kernel import WIDTH, lane, pool_of

SIGNED = ("eq", "ne", "lt", "le", "gt", "ge")
UNSIGNED = ("lo", "ls", "hi", "hs")
FLOAT = SIGNED + ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def generate(suite):
    _setp_int(suite)
    _setp_float(suite)
    _setp_combine(suite)
    _set(suite)
    _select(suite)


def setp(suite, form, type_, sm=70, outs=1):
    target = "%d" if outs == 1 else "%d|%e"
    lane(suite, form, [pool_of(type_)] * 2, ["pred"] * outs,
         f"{form} {target}, %a, %b;", sm=sm)


def _setp_int(suite):
    for width in (16, 32, 64):
        for compare in SIGNED:
            setp(suite, f"setp.{compare}.s{width}", f"s{width}")
            setp(suite, f"setp.{compare}.u{width}", f"u{width}")
        for compare in UNSIGNED:
            setp(suite, f"setp.{compare}.u{width}", f"u{width}")
        for compare in ("eq", "ne"):
            setp(suite, f"setp.{compare}.b{width}", f"b{width}")


def _setp_float(suite):
    for compare in FLOAT:
        setp(suite, f"setp.{compare}.f32", "f32")
        setp(suite, f"setp.{compare}.ftz.f32", "f32")
        setp(suite, f"setp.{compare}.f64", "f64")
        setp(suite, f"setp.{compare}.f16", "f16")
        setp(suite, f"setp.{compare}.bf16", "bf16", sm=90)
        setp(suite, f"setp.{compare}.f16x2", "f16x2", outs=2)
        setp(suite, f"setp.{compare}.bf16x2", "bf16x2", sm=90, outs=2)
    setp(suite, "setp.lt.ftz.f16", "f16")


def _setp_combine(suite):
    for op in ("and", "or", "xor"):
        for type_, compare in (("u32", "lt"), ("s32", "lt"), ("u32", "eq"),
                               ("f32", "gt"), ("s64", "ge")):
            form = f"setp.{compare}.{op}.{type_}"
            lane(suite, form, [pool_of(type_)] * 2 + ["pred"], ["pred"] * 4,
                 f"{form} %d, %a, %b, %c;\n{form} %e|%f, %a, %b, !%c;\n"
                 f"{form} %g|_, %b, %a, %c;")
    lane(suite, "setp.lt.s32", ["b32"] * 2, ["pred"] * 2,
         "setp.lt.s32 %d|%e, %a, %b;", stem="setp.lt.s32+pair")


def _set(suite):
    for compare in SIGNED:
        for type_ in ("s32", "u32", "s64", "u64", "f32", "f64"):
            form = f"set.{compare}.u32.{type_}"
            lane(suite, form, [pool_of(type_)] * 2, ["b32"],
                 f"{form} %d, %a, %b;", count=320)
    for form, type_ in (("set.neu.u32.f32", "f32"), ("set.gtu.u32.f16", "f16"),
                        ("set.ltu.s32.f64", "f64"),
                        ("set.nan.s32.f32", "f32"),
                        ("set.gt.s32.s32", "s32"),
                        ("set.lt.ftz.u32.f32", "f32"),
                        ("set.gtu.u32.f16x2", "f16x2")):
        lane(suite, form, [pool_of(type_)] * 2, ["b32"],
             f"{form} %d, %a, %b;")
    for form, type_, out in (("set.lt.f32.s32", "s32", "f32"),
                             ("set.geu.f32.f32", "f32", "f32"),
                             ("set.eq.f16.f16", "f16", "f16"),
                             ("set.gt.f16.f16", "f16", "f16"),
                             ("set.gt.f16x2.f16x2", "f16x2", "f16x2"),
                             ("set.neu.f16x2.f16x2", "f16x2", "f16x2")):
        lane(suite, form, [pool_of(type_)] * 2, [out], f"{form} %d, %a, %b;")
    for op in ("and", "or", "xor"):
        form = f"set.lt.{op}.u32.s32"
        lane(suite, form, ["b32"] * 2 + ["pred"], ["b32"] * 2,
             f"{form} %d, %a, %b, %c;\n{form} %e, %a, %b, !%c;", count=256)


def _select(suite):
    for type_ in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64",
                  "u64", "s64", "f64"):
        out = f"b{WIDTH[type_]}"
        lane(suite, f"selp.{type_}", [out, out, "pred"], [out],
             f"selp.{type_} %d, %a, %b, %c;", count=128)
        for condition in ("s32", "f32"):
            form = f"slct.{type_}.{condition}"
            lane(suite, form, [out, out, pool_of(condition)], [out],
                 f"{form} %d, %a, %b, %c;", count=256)
    lane(suite, "slct.ftz.u32.f32", ["b32", "b32", "f32"], ["b32"],
         "slct.ftz.u32.f32 %d, %a, %b, %c;", count=256)
