"""atom and red: every operation, width, space and scope.

Two parts per file. Distinct cells: thread i applies the operation to cell
(5 i + 3) mod 64 of `m`, keeping the old value in `d`. Contended cells: all
threads apply it to the four cells of `c`, whose final value does not depend
on the order (operands of float additions are small integers).
"""

from generator.kernel import (PROLOGUE, WIDTH, buffer_in, buffer_inout,
                              buffer_out, element, free, store_output)
import runfile

THREADS = 64
# (operation, type, least sm)
OPS = ([("add", t, 70) for t in ("s32", "u32", "u64", "f32", "f64")]
       + [(op, t, 70) for op in ("min", "max")
          for t in ("s32", "u32", "s64", "u64")]
       + [(op, t, 70) for op in ("and", "or", "xor", "exch", "cas")
          for t in ("b32", "b64")]
       + [("cas", "b16", 70), ("inc", "u32", 70), ("dec", "u32", 70),
          ("add.noftz", "f16x2", 70), ("add.noftz", "f16", 70),
          ("add.noftz", "bf16", 90), ("add.noftz", "bf16x2", 90)])
NO_RED = ("exch", "cas")
ONES = {"f16": "0x3C00", "bf16": "0x3F80", "f16x2": "0x3C003C00",
        "bf16x2": "0x3F803F80", "f32": "0f3F800000",
        "f64": "0d3FF0000000000000"}


def generate(suite):
    for prefix, space in (("atom.global", "global"), ("atom.shared", "shared"),
                          ("atom", ""), ("atom.cta", ""), ("atom.sys", ""),
                          ("atom.global.sys", "global"),
                          ("atom.gpu.global", "global")):
        for op, type_, sm in OPS:
            if prefix in ("atom.global.sys", "atom.gpu.global") and (
                    op.startswith("add.noftz") or WIDTH[type_] == 16):
                continue
            atomic(suite, f"{prefix}.{op}.{type_}", op, type_, space, sm)
    for prefix, space in (("red.global", "global"), ("red.shared", "shared"),
                          ("red", "")):
        for op, type_, sm in OPS:
            if op not in NO_RED:
                atomic(suite, f"{prefix}.{op}.{type_}", op, type_, space, sm)
    _ordered(suite)
    _generic_shared(suite)
    _wide(suite)


def _ordered(suite):
    for sem in ("relaxed", "acquire", "release", "acq_rel"):
        for scope in ("cta", "gpu", "sys"):
            atomic(suite, f"atom.add.{sem}.{scope}.u32", "add", "u32", "")
            atomic(suite, f"atom.{sem}.{scope}.global.cas.b32", "cas", "b32",
                   "global")
        atomic(suite, f"atom.or.{sem}.cta.b32", "or", "b32", "")
        atomic(suite, f"atom.{sem}.gpu.shared.exch.b64", "exch", "b64",
               "shared")
    for sem in ("relaxed", "release"):
        atomic(suite, f"red.and.{sem}.cta.b32", "and", "b32", "")
        atomic(suite, f"red.{sem}.gpu.global.add.f32", "add", "f32", "global")
        atomic(suite, f"red.{sem}.gpu.global.add.noftz.f16x2", "add.noftz",
               "f16x2", "global")


def atomic(suite, form, op, type_, space, sm=70, stem=None, generic=False):
    """Emits one run-file; `generic` puts the cells in shared memory and the
    address in the generic space."""
    cell, size = f"b{WIDTH[type_]}", WIDTH[type_] // 8
    kind = element(type_)
    compare = "nan" if kind != cell else "exact"
    is_red = form.startswith("red")
    contended = not op.startswith(("exch", "cas"))
    params = [buffer_in(suite, "a", kind, THREADS),
              buffer_inout(suite, "m", kind, THREADS, compare)]
    if not is_red:
        params.append(buffer_out("d", kind, THREADS, compare))
    params.append(_contended_cells(suite, kind, cell))
    body = PROLOGUE + f""".reg .b32 %j;
.reg .b64 %q, %w;
.reg .{cell} %x, %y, %z, %d;
.shared .align 16 .b8 cells[{(THREADS + 4) * size}];
ld.param.u64 %p, [a];
mad.wide.u32 %p, %i, {size}, %p;
ld.global.{cell} %x, [%p];
mad.lo.u32 %j, %i, 5, 3;
and.b32 %j, %j, 63;
"""
    in_shared = space == "shared" or generic
    if in_shared:
        body += _to_shared(cell, size)
    body += _cell_address(in_shared, generic, "m", "%j", size, 0)
    target = "" if is_red else "%d, "
    body += _operation(form, op, cell, target, space)
    if contended:
        body += "and.b32 %j, %i, 3;\n"
        body += _cell_address(in_shared, generic, "c", "%j", size,
                              THREADS * size)
        body += f"{_operand(op, type_, cell)}"
        body += f"{form} {'' if is_red else '%z, '}[%p], %x;\n"
    if in_shared:
        body += _from_shared(cell, size)
    if not is_red:
        body += store_output("d", kind)
    free(suite, form, params, body, block=(THREADS, 1, 1), sm=sm, stem=stem)


def _contended_cells(suite, kind, cell):
    if kind == cell:
        return buffer_inout(suite, "c", kind, 4)
    return runfile.Param("inout", "c", kind, 4, "zero", "nan")


def _operand(op, type_, cell):
    """%x for the contended cells: any value, or one that sums exactly."""
    if type_ in ONES:
        return f"mov.{cell} %x, {ONES[type_]};\n"
    if op in ("inc", "dec"):
        return "mov.u32 %x, 11;\n"
    return ""


def _operation(form, op, cell, target, space):
    dot = f".{space}" if space else ""
    if op != "cas":
        return f"{form} {target}[%p], %x;\n"
    # Even threads compare with the present value, odd ones with another.
    narrow = f"cvt.u16.u32 %z, %i;\n" if cell == "b16" else (
        "mov.b32 %z, %i;\n" if cell == "b32" else "cvt.u64.u32 %z, %i;\n")
    return (f"ld{dot}.{cell} %y, [%p];\n{narrow}and.{cell} %z, %z, 1;\n"
            f"xor.{cell} %y, %y, %z;\n{form} {target}[%p], %y, %x;\n")


def _cell_address(in_shared, generic, name, index, size, offset):
    if not in_shared:
        return (f"ld.param.u64 %p, [{name}];\n"
                f"mad.wide.u32 %p, {index}, {size}, %p;\n")
    text = (f"mov.u64 %p, cells;\nadd.u64 %p, %p, {offset};\n"
            f"mad.wide.u32 %p, {index}, {size}, %p;\n")
    return text + ("cvta.shared.u64 %p, %p;\n" if generic else "")


def _to_shared(cell, size):
    return f"""mov.u64 %q, cells;
mad.wide.u32 %q, %i, {size}, %q;
ld.param.u64 %p, [m];
mad.wide.u32 %p, %i, {size}, %p;
ld.global.{cell} %y, [%p];
st.shared.{cell} [%q], %y;
and.b32 %n, %i, 3;
ld.param.u64 %p, [c];
mad.wide.u32 %p, %n, {size}, %p;
ld.global.{cell} %y, [%p];
mov.u64 %w, cells;
mad.wide.u32 %w, %n, {size}, %w;
st.shared.{cell} [%w+{THREADS * size}], %y;
bar.sync 0;
"""


def _from_shared(cell, size):
    return f"""bar.sync 0;
ld.shared.{cell} %y, [%q];
ld.param.u64 %p, [m];
mad.wide.u32 %p, %i, {size}, %p;
st.global.{cell} [%p], %y;
ld.shared.{cell} %y, [%w+{THREADS * size}];
ld.param.u64 %p, [c];
mad.wide.u32 %p, %n, {size}, %p;
st.global.{cell} [%p], %y;
"""


def _generic_shared(suite):
    for op, type_ in (("add", "u32"), ("add", "f32"), ("add", "u64"),
                      ("cas", "b32"), ("exch", "b64"), ("max", "s64")):
        form = f"atom.{op}.{type_}"
        atomic(suite, form, op, type_, "", stem=form + "+shared",
               generic=True)


def _wide(suite):
    """128-bit exchange and compare-and-swap, and a counter kept by a
    compare-and-swap loop."""
    for op in ("exch", "cas"):
        form = f"atom.global.{op}.b128"
        compare = "%c128, " if op == "cas" else ""
        body = PROLOGUE + f""".reg .b64 %x, %y, %d, %e;
.reg .b128 %v, %c128, %old;
ld.param.u64 %p, [a];
mad.wide.u32 %p, %i, 16, %p;
ld.global.v2.b64 {{%x, %y}}, [%p];
mov.b128 %v, {{%y, %x}};
mov.b128 %c128, {{%x, %y}};
ld.param.u64 %p, [m];
mad.wide.u32 %p, %i, 16, %p;
{form} %old, [%p], {compare}%v;
mov.b128 {{%d, %e}}, %old;
""" + store_output("d", "b64") + store_output("e", "b64")
        free(suite, form, [buffer_in(suite, "a", "b64", 64),
                           buffer_inout(suite, "m", "b64", 64),
                           buffer_out("d", "b64", 32),
                           buffer_out("e", "b64", 32)], body, sm=90,
             version="8.3")
    for space in ("global", "shared"):
        body = PROLOGUE + """.reg .b32 %x, %y, %z;
.reg .pred %r;
.shared .align 4 .b32 cell;
ld.param.u64 %p, [m];
""" + ("""mov.u64 %p, cell;
setp.eq.u32 %r, %i, 0;
@%r st.shared.u32 [cell], 5;
bar.sync 0;
""" if space == "shared" else "") + f"""ld.{space}.u32 %x, [%p];
again:
mad.lo.u32 %y, %x, 1, 3;
atom.{space}.cas.b32 %z, [%p], %x, %y;
setp.ne.u32 %r, %z, %x;
mov.u32 %x, %z;
@%r bra again;
bar.sync 0;
ld.{space}.u32 %x, [%p];
ld.param.u64 %p, [m];
st.global.u32 [%p], %x;
"""
        free(suite, f"atom.{space}.cas.b32",
             [runfile.Param("inout", "m", "b32", 1, "zero")], body,
             block=(96, 1, 1), stem=f"atom.{space}.cas.b32+loop")
