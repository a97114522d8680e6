"""Matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix.

Whole numbers give exact results on every device; values of [-1, 1) may be
summed in another order, so they compare with an absolute bound.
"""

from generator.kernel import (PROLOGUE, address, buffer_in, buffer_out, free)
import runfile

# (shape and types of mma, registers of a, b, c, sm, cells of a/b, of c)
MMA = [
    ("m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 75, "f16x2", "f16x2"),
    ("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 75, "f16x2", "f32"),
    ("m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 80, "f16x2", "f16x2"),
    ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 80, "f16x2", "f32"),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, 80, "bf16x2", "f32"),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 80, "bf16x2", "f32"),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 80, "f32", "f32"),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 80, "f32", "f32"),
    ("m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, 80, "f64", "f64"),
    ("m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4, 90, "f64", "f64"),
    ("m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4, 90, "f64", "f64"),
    ("m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, 90, "f64", "f64"),
]
INTEGER_SHAPES = {8: (("m8n8k16", 1, 1, 2), ("m16n8k16", 2, 1, 4),
                      ("m16n8k32", 4, 2, 4)),
                  4: (("m8n8k32", 1, 1, 2), ("m16n8k32", 2, 1, 4),
                      ("m16n8k64", 4, 2, 4))}
BIT_SHAPES = (("m8n8k128", 1, 1, 2), ("m16n8k128", 2, 1, 4),
              ("m16n8k256", 4, 2, 4))
BOUND = {"f16x2": "ulp 0 abs 2^-5", "f32": "ulp 0 abs 2^-9",
         "f64": "ulp 0 abs 2^-44", "f16": "ulp 0 abs 2^-5"}


def generate(suite):
    for shape, a, b, c, sm, cell, out in MMA:
        form = f"mma.sync.aligned.{shape}"
        for kind in ("small", "unit"):
            _mma(suite, form, (a, b, c), sm, kind + cell, kind + out,
                 "nan" if kind == "small" else BOUND[out],
                 form if kind == "small" else form + "+unit")
    _integer(suite)
    _ldmatrix(suite)
    _stmatrix(suite)
    _movmatrix(suite)
    _wmma(suite)


def _integer(suite):
    for bits, shapes in INTEGER_SHAPES.items():
        for shape, a, b, c in shapes:
            for left, right in (("s", "s"), ("u", "u"), ("s", "u")):
                types = f"s32.{left}{bits}.{right}{bits}.s32"
                for sat in ("", ".satfinite"):
                    _mma(suite,
                         f"mma.sync.aligned.{shape}.row.col{sat}.{types}",
                         (a, b, c), 75 if shape.startswith("m8") else 80,
                         "noise", "b32", "exact")
    for shape, a, b, c in BIT_SHAPES:
        for op in ("xor", "and"):
            _mma(suite, f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32."
                 f"{op}.popc", (a, b, c), 80, "noise", "b32", "exact")


def registers(name, count, reg):
    names = [f"%{name}{k}" for k in range(count)]
    return f".reg .{reg} {', '.join(names)};\n", "{" + ", ".join(names) + "}"


def transfer(op, name, count, reg):
    """Loads or stores thread i's `count` consecutive elements."""
    size = runfile.SIZES[reg]
    text = address(name, size * count)
    for k in range(count):
        place, value = f"[%p+{k * size}]", f"%{name}{k}"
        text += (f"ld.global.{reg} {value}, {place};\n" if op == "ld"
                 else f"st.global.{reg} {place}, {value};\n")
    return text


def _mma(suite, form, counts, sm, pool, out_pool, compare, stem=None):
    reg = "b64" if "f64" in pool else "b32"
    body, params = PROLOGUE, []
    for name, count, source in zip("abc", counts, (pool, pool, out_pool)):
        params.append(buffer_in(suite, name, source, 32 * count))
        body += registers(name, count, reg)[0]
        body += transfer("ld", name, count, reg)
    declare, d = registers("d", counts[2], reg)
    groups = [registers(n, k, reg)[1] for n, k in zip("abc", counts)]
    body += declare + f"{form} {d}, {', '.join(groups)};\n"
    body += transfer("st", "d", counts[2], reg)
    params.append(buffer_out("d", params[2].type, 32 * counts[2], compare))
    free(suite, form, params, body, sm=sm, stem=stem)


SHARED = PROLOGUE + """.reg .b64 %q, %g;
.reg .b32 %x;
.shared .align 16 .b8 mem[2048];
mov.u64 %q, mem;
mad.wide.u32 %q, %i, 64, %q;
"""


def _ldmatrix(suite):
    """Row i of the tiles lies at 16 (7 i mod 32) in shared memory."""
    spellings = [f"m8n8.x{n}{trans}{space}.b16" for n in (1, 2, 4)
                 for trans in ("", ".trans") for space in (".shared", "")]
    spellings += ["x4.m8n8.shared.b16", "x4.trans.m8n8.shared.b16"]
    for spelling in spellings:
        form = f"ldmatrix.sync.aligned.{spelling}"
        count = int(spelling.split("x")[1][0])
        body = SHARED + "ld.param.u64 %p, [a];\nmad.wide.u32 %p, %i, 64, %p;\n"
        for k in range(0, 64, 4):
            body += (f"ld.global.b32 %x, [%p+{k}];\n"
                     f"st.shared.b32 [%q+{k}], %x;\n")
        declare, group = registers("d", count, "b32")
        body += f"""bar.sync 0;
mul.lo.u32 %x, %i, 7;
and.b32 %x, %x, 31;
mov.u64 %q, mem;
mad.wide.u32 %q, %x, 16, %q;
{'' if 'shared' in spelling else 'cvta.shared.u64 %q, %q;'}
{declare}{form} {group}, [%q];
""" + transfer("st", "d", count, "b32")
        free(suite, form, [buffer_in(suite, "a", "noise", 512),
                           buffer_out("d", "b32", 32 * count)], body, sm=75)


def _stmatrix(suite):
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            form = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            declare, group = registers("a", count, "b32")
            body = SHARED + declare + transfer("ld", "a", count, "b32")
            for k in range(0, 64, 4):
                body += f"st.shared.b32 [%q+{k}], {k};\n"
            body += f"""bar.sync 0;
mul.lo.u32 %x, %i, 7;
and.b32 %x, %x, 31;
mov.u64 %g, mem;
mad.wide.u32 %g, %x, 16, %g;
{form} [%g], {group};
bar.sync 0;
""" + address("d", 64)
            for k in range(0, 64, 4):
                body += (f"ld.shared.b32 %x, [%q+{k}];\n"
                         f"st.global.b32 [%p+{k}], %x;\n")
            free(suite, form, [buffer_in(suite, "a", "noise", 32 * count),
                               buffer_out("d", "b32", 512)], body, sm=90)


def _movmatrix(suite):
    form = "movmatrix.sync.aligned.m8n8.trans.b16"
    body = PROLOGUE + ".reg .b32 %a0, %d0;\n" + transfer("ld", "a", 1, "b32")
    body += f"{form} %d0, %a0;\n" + transfer("st", "d", 1, "b32")
    free(suite, form, [buffer_in(suite, "a", "noise", 32),
                       buffer_out("d", "b32", 32)], body, sm=75)


# (shape, type of a and b, of c, registers of a, b, c, cells, cells of c, sm)
WMMA = [
    ("m16n16k16", "f16", "f16", 8, 8, 4, "smallf16", "smallf16", 70),
    ("m16n16k16", "f16", "f32", 8, 8, 8, "smallf16", "smallf32", 70),
    ("m8n32k16", "f16", "f32", 8, 8, 8, "smallf16", "smallf32", 70),
    ("m32n8k16", "f16", "f32", 8, 8, 8, "smallf16", "smallf32", 70),
    ("m16n16k16", "bf16", "f32", 4, 4, 8, "smallbf16", "smallf32", 80),
    ("m16n16k8", "tf32", "f32", 4, 4, 8, "smallf32", "smallf32", 80),
    ("m16n16k16", "u8", "s32", 2, 2, 8, "b8", "b32", 72),
    ("m16n16k16", "s8", "s32", 2, 2, 8, "b8", "b32", 72),
    ("m8n8k4", "f64", "f64", 1, 1, 2, "smallf64", "smallf64", 80),
]


def _wmma(suite):
    for entry in WMMA:
        for left, right in (("row", "col"), ("row", "row"), ("col", "col"),
                            ("col", "row")):
            if entry[0] == "m8n8k4" and (left, right) != ("row", "col"):
                continue
            for space in (".global", ".shared", ""):
                if space and (left, right) not in (("row", "col"),
                                                   ("col", "row")):
                    continue
                _wmma_case(suite, entry, left, right, space)


def _dimensions(shape):
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def _wmma_case(suite, entry, left, right, space):
    shape, type_, acc, a, b, c, pool, acc_pool, sm = entry
    m, n, k = _dimensions(shape)
    reg = "b64" if type_ == "f64" else "b32"
    order = "row" if left == "row" else "col"
    forms = [f"wmma.load.a.sync.aligned.{left}.{shape}{space}.{type_}",
             f"wmma.load.b.sync.aligned.{right}.{shape}{space}.{type_}",
             f"wmma.load.c.sync.aligned.{order}.{shape}{space}.{acc}",
             _wmma_form(left, right, shape, type_, acc),
             f"wmma.store.d.sync.aligned.{order}.{shape}{space}.{acc}"]
    sizes = (("a", m * k, pool), ("b", k * n, pool), ("c", m * n, acc_pool))
    params = [buffer_in(suite, name, cells, count)
              for name, count, cells in sizes]
    params.append(buffer_out("d", params[2].type, m * n, "nan"
                             if acc != "s32" else "exact"))
    body = PROLOGUE + ".reg .b64 %q;\n.reg .b32 %x, %k;\n.reg .pred %r;\n"
    strides = (k if left == "row" else m, n if right == "row" else k,
               n if order == "row" else m)
    for (name, count, _), regs, form, stride, param in zip(
            sizes, (a, b, c), forms, strides, params):
        declare, group = registers(name, regs, reg)
        size = count * runfile.SIZES[param.type]
        body += declare + _place(name, size, space)
        body += f"{form} {group}, [%p], {stride};\n"
    declare, d = registers("d", c, reg)
    groups = [registers(x, y, reg)[1] for x, y in zip("abc", (a, b, c))]
    body += declare + f"{forms[3]} {d}, {', '.join(groups)};\n"
    size = m * n * runfile.SIZES[params[3].type]
    if space == ".shared":
        body += f".shared .align 16 .b8 d_mem[{size}];\nmov.u64 %p, d_mem;\n"
        body += f"{forms[4]} [%p], {d}, {strides[2]};\nbar.sync 0;\n"
        body += _copy(size, "ld.shared.b32 %x, [%p];",
                      "st.global.b32 [%q], %x;", "mov.u64 %p, d_mem;",
                      "ld.param.u64 %q, [d];", "d")
    else:
        body += f"ld.param.u64 %p, [d];\n{forms[4]} [%p], {d}, {strides[2]};\n"
    free(suite, forms[3], params, body, sm=sm, forms=forms,
         stem=f"{forms[3]}+{type_}-{order}{space.replace('.', '-')}")


def _wmma_form(left, right, shape, type_, acc):
    head = f"wmma.mma.sync.aligned.{left}.{right}.{shape}"
    if type_ == "f16":
        return f"{head}.{acc}.{acc}"
    if type_ == "f64":
        return f"{head}.f64.f64.f64.f64.rn"
    return f"{head}.{acc}.{type_}.{type_}.{acc}"


def _place(name, size, space):
    """%p = where the matrix lies; copies it to shared memory first."""
    if space != ".shared":
        return f"ld.param.u64 %p, [{name}];\n"
    text = f".shared .align 16 .b8 {name}_mem[{size}];\n"
    text += _copy(size, "ld.global.b32 %x, [%q];", "st.shared.b32 [%p], %x;",
                  f"mov.u64 %p, {name}_mem;", f"ld.param.u64 %q, [{name}];",
                  name)
    return text + f"bar.sync 0;\nmov.u64 %p, {name}_mem;\n"


def _copy(size, load, store, first, second, label):
    return f"""mov.u32 %k, %i;
copy_{label}:
{first}
mad.wide.u32 %p, %k, 4, %p;
{second}
mad.wide.u32 %q, %k, 4, %q;
setp.lt.u32 %r, %k, {size // 4};
@%r {load}
@%r {store}
add.u32 %k, %k, 32;
setp.lt.u32 %r, %k, {size // 4};
@%r bra copy_{label};
"""
