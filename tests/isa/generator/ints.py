"""Integer arithmetic, logic, shifts and bit-field instructions."""

from generator.kernel import OUTPUT_NAMES, WIDTH, lane, pool_of

INTS = ("s16", "u16", "s32", "u32", "s64", "u64")


def generate(suite):
    _arithmetic(suite)
    _division(suite)
    _multiply_add(suite)
    _carry(suite)
    _logic(suite)
    _bits(suite)
    _bytes(suite)
    _video(suite)


def simple(suite, form, types, out, **more):
    """form d, a, b, ...: one input per type."""
    args = ", ".join("%" + "abcuvw"[i] for i in range(len(types)))
    lane(suite, form, [pool_of(t) for t in types], [out],
         f"{form} %d, {args};", **more)


def bits(type_):
    return f"b{WIDTH[type_]}"


def _arithmetic(suite):
    for type_ in INTS:
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            simple(suite, f"{op}.{type_}", [type_] * 2, bits(type_))
        simple(suite, f"sad.{type_}", [type_, type_, bits(type_)],
               bits(type_))
    for width in (16, 32, 64):
        for op in ("neg", "abs"):
            simple(suite, f"{op}.s{width}", [f"s{width}"], f"b{width}")
    for op in ("add", "sub"):
        simple(suite, f"{op}.sat.s32", ["s32"] * 2, "b32")
    for type_ in ("s16", "u16", "s32", "u32"):
        simple(suite, f"mul.wide.{type_}", [type_] * 2,
               f"b{2 * WIDTH[type_]}")
    for type_ in ("s32", "u32"):
        for half in ("lo", "hi"):
            simple(suite, f"mul24.{half}.{type_}", [type_] * 2, "b32")
            simple(suite, f"mad24.{half}.{type_}", [type_] * 3, "b32")
    for type_ in ("add.s32", "sub.s64", "mul.lo.s32", "and.b32", "shl.b32"):
        _immediates(suite, type_)


def _immediates(suite, form):
    """Second operand given as a constant in every spelling."""
    width = WIDTH[form.rsplit(".", 1)[1]]
    if form.startswith("shl"):
        values = ["0", "1", "31", "32", "0x21", "037", "0b101"]
    else:
        values = ["0", "-1", "2147483647", "-2147483648", "0xFFFFFFFF", "0777",
                  "0b1011", "0x7fffffffU", "(1 << 4) + 3", "~5", "!0"]
    body = "\n".join(f"{form} %{reg}, %a, {value};"
                     for reg, value in zip(OUTPUT_NAMES, values))
    lane(suite, form, [f"b{width}"], [f"b{width}"] * len(values), body,
         stem=form + "+imm", count=64)


def _division(suite):
    for type_ in INTS:
        width = WIDTH[type_]
        for op in ("div", "rem"):
            form = f"{op}.{type_}"
            lane(suite, form, [f"b{width}", f"nz{width}"], [f"b{width}"],
                 f"{form} %d, %a, %b;")
            lane(suite, form, [f"b{width}", f"zero{width}"], [f"b{width}"],
                 f"{form} %d, %a, %b;", count=64, stem=form + "+zero",
                 note="the manual leaves division by zero to the machine")


def _multiply_add(suite):
    for type_ in INTS:
        for half in ("lo", "hi"):
            simple(suite, f"mad.{half}.{type_}", [type_] * 3, bits(type_))
    simple(suite, "mad.hi.sat.s32", ["s32"] * 3, "b32")
    for type_ in ("s16", "u16", "s32", "u32"):
        wide = f"b{2 * WIDTH[type_]}"
        simple(suite, f"mad.wide.{type_}", [type_, type_, wide], wide)
    for a in ("s32", "u32"):
        for b in ("s32", "u32"):
            simple(suite, f"dp4a.{a}.{b}", ["b32"] * 3, "b32")
            for half in ("lo", "hi"):
                simple(suite, f"dp2a.{half}.{a}.{b}", ["b32"] * 3, "b32")


def _carry(suite):
    for type_ in ("u32", "s32", "u64", "s64"):
        out = bits(type_)
        for op in ("add", "sub"):
            forms = [f"{op}.cc.{type_}", f"{op}c.cc.{type_}",
                     f"{op}c.{type_}"]
            lane(suite, forms[0], [out] * 3, [out] * 3,
                 f"{forms[0]} %d, %a, %b;\n{forms[1]} %e, %b, %c;\n"
                 f"{forms[2]} %f, %c, %a;", forms=forms)
        forms = [f"mad.lo.cc.{type_}", f"madc.hi.cc.{type_}",
                 f"madc.lo.cc.{type_}", f"madc.hi.{type_}",
                 f"madc.lo.{type_}", f"mad.hi.cc.{type_}"]
        _mad_chain(suite, type_, out, forms)


def _mad_chain(suite, type_, out, forms):
    lane(suite, forms[0], [out] * 3, [out] * 6,
         f"mad.lo.cc.{type_} %d, %a, %b, %c;\n"
         f"madc.hi.cc.{type_} %e, %a, %b, %a;\n"
         f"madc.lo.cc.{type_} %f, %b, %c, %b;\n"
         f"madc.hi.{type_} %g, %b, %c, 0;\n"
         f"mad.hi.cc.{type_} %h, %a, %c, %c;\n"
         f"madc.lo.{type_} %j, %c, %c, %b;\n",
         forms=forms)


def _logic(suite):
    for width in (16, 32, 64):
        for op in ("and", "or", "xor"):
            simple(suite, f"{op}.b{width}", [f"b{width}"] * 2, f"b{width}")
        for op in ("not", "cnot"):
            simple(suite, f"{op}.b{width}", [f"b{width}"], f"b{width}")
        kinds = ("shl.b", "shr.b", "shr.u", "shr.s")
        for op in kinds:
            form = f"{op}{width}"
            lane(suite, form, [f"b{width}", "shift"], [f"b{width}"],
                 f"{form} %d, %a, %b;")
    for op in ("and", "or", "xor"):
        lane(suite, f"{op}.pred", ["pred"] * 2, ["pred"],
             f"{op}.pred %d, %a, %b;", count=64)
    lane(suite, "not.pred", ["pred"], ["pred"], "not.pred %d, %a;", count=64)
    for direction in ("l", "r"):
        for mode in ("wrap", "clamp"):
            form = f"shf.{direction}.{mode}.b32"
            lane(suite, form, ["b32", "b32", "shift"], ["b32"],
                 f"{form} %d, %a, %b, %c;")
    _lop3(suite)


def _lop3(suite):
    """All 256 truth tables over the eight operand combinations, then eight
    tables over mixed operands."""
    luts = [0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1B, 0x40, 0xF4, 0x78, 0xB8, 0x2D]
    lane(suite, "lop3.b32", ["b32"] * 3, ["b32"] * len(luts),
         "\n".join(f"lop3.b32 %{reg}, %a, %b, %c, 0x{lut:02x};"
                   for reg, lut in zip(OUTPUT_NAMES, luts)), count=128)
    for quarter in range(4):
        body = ".reg .b32 %x;\n.reg .b64 %q;\nmov.u32 %d, 0;\n"
        for lut in range(quarter * 64, quarter * 64 + 64):
            body += (f"lop3.b32 %x, %a, %b, %c, {lut};\n"
                     "mul.lo.u32 %d, %d, 31;\nadd.u32 %d, %d, %x;\n")
        lane(suite, "lop3.b32", ["b32"] * 3, ["b32"], body, count=64,
             stem=f"lop3.b32+tables{quarter}",
             note="d folds 64 truth tables: d = d * 31 + result")


def _bits(suite):
    for width in (32, 64):
        for op in ("popc", "clz"):
            simple(suite, f"{op}.b{width}", [f"b{width}"], "b32")
        simple(suite, f"brev.b{width}", [f"b{width}"], f"b{width}")
        for sign in "us":
            type_ = f"{sign}{width}"
            for form in (f"bfind.{type_}", f"bfind.shiftamt.{type_}"):
                simple(suite, form, [type_], "b32")
            lane(suite, f"bfe.{type_}", [f"b{width}", "len", "len"],
                 [f"b{width}"], f"bfe.{type_} %d, %a, %b, %c;")
        lane(suite, f"bfi.b{width}", [f"b{width}", f"b{width}", "len", "len"],
             [f"b{width}"], f"bfi.b{width} %d, %a, %b, %c, %u;")
    lane(suite, "fns.b32", ["b32", "len", "len"], ["b32"],
         "and.b32 %b, %b, 31;\nsub.s32 %c, %c, 33;\n"
         "fns.b32 %d, %a, %b, %c;", count=256)
    for mode in ("clamp", "wrap"):
        lane(suite, f"bmsk.{mode}.b32", ["shift", "shift"], ["b32"],
             f"bmsk.{mode}.b32 %d, %a, %b;", version="8.0")
        for type_ in ("u32", "s32"):
            lane(suite, f"szext.{mode}.{type_}", ["b32", "shift"], ["b32"],
                 f"szext.{mode}.{type_} %d, %a, %b;")


def _bytes(suite):
    lane(suite, "prmt.b32", ["b32"] * 3, ["b32"], "prmt.b32 %d, %a, %b, %c;")
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        lane(suite, f"prmt.b32.{mode}", ["b32", "b32", "len"], ["b32"],
             f"prmt.b32.{mode} %d, %a, %b, %c;", count=256)


def _video_forms():
    for parts in "24":
        for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for types in ("u32.u32.u32", "s32.s32.s32.sat",
                          "u32.s32.u32.sat", "s32.s32.u32.add",
                          "u32.u32.u32.add"):
                yield f"{op}{parts}.{types}"
        for compare in ("eq", "ne.add", "lt", "le.add", "gt", "ge"):
            yield f"vset{parts}.u32.u32.{compare}"
            yield f"vset{parts}.s32.u32.{compare}"
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for types in ("u32.s32.u32.add", "s32.s32.s32.sat.min"):
            yield f"{op}.{types}"
    # Where .sat meets operands of two signs, the assembler's code contradicts
    # the manual.
    yield "vmin.u32.u32.s32.sat.max"
    yield "vmax.u32.u32.s32.sat.max"
    for op in ("vshl", "vshr"):
        for types in ("u32.u32.u32.clamp.add", "s32.s32.u32.wrap.min"):
            yield f"{op}.{types}"
    yield "vshr.u32.s32.u32.sat.clamp.max"
    for compare in ("lt.add", "ge.min", "ne.max"):
        yield f"vset.s32.u32.{compare}"
    for types in ("u32.u32.u32", "s32.s32.s32.shr7"):
        yield f"vmad.{types}"


def _video(suite):
    for form in _video_forms():
        lane(suite, form, ["b32"] * 3, ["b32"], f"{form} %d, %a, %b, %c;",
             count=256)
    # Without a third operand.
    lane(suite, "vset.u32.s32.gt", ["b32"] * 2, ["b32"],
         "vset.u32.s32.gt %d, %a, %b;", count=256)
