"""mov in all types, packing and unpacking, constants, special registers,
address-space conversion."""

from generator.kernel import (PROLOGUE, WIDTH, address, buffer_out, free,
                              lane, store_output)


def generate(suite):
    _plain(suite)
    _pack(suite)
    _constants(suite)
    _special_registers(suite)
    _clocks(suite)
    _addresses(suite)
    _spaces(suite)


def _plain(suite):
    for type_ in ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64",
                  "u64", "s64", "f64"):
        cell = f"b{WIDTH[type_]}"
        lane(suite, f"mov.{type_}", [cell], [cell], f"mov.{type_} %d, %a;",
             count=64)
    lane(suite, "mov.pred", ["pred"], ["pred", "pred"],
         "mov.pred %d, %a;\nmov.pred %e, 1;", count=64)


def _pack(suite):
    def case(form, stem, ins, outs, body, **more):
        lane(suite, form, ins, outs, body, stem=f"{form}+{stem}", count=128,
             **more)
    case("mov.b32", "pack16", ["b16", "b16"], ["b32"], "mov.b32 %d, {%a, %b};")
    case("mov.b32", "unpack16", ["b32"], ["b16", "b16"],
         "mov.b32 {%d, %e}, %a;")
    case("mov.b64", "pack32", ["b32", "b32"], ["b64"],
         "mov.b64 %d, {%a, %b};")
    case("mov.b64", "unpack32", ["b64"], ["b32", "b32"],
         "mov.b64 {%d, %e}, %a;")
    case("mov.b64", "sink", ["b64"], ["b32", "b32"],
         "mov.b64 {%d, _}, %a;\nmov.b64 {_, %e}, %a;")
    case("mov.b64", "pack16", ["b16", "b16", "b16", "b16"], ["b64"],
         "mov.b64 %d, {%a, %b, %c, %u};")
    case("mov.b64", "unpack16", ["b64"], ["b16"] * 4,
         "mov.b64 {%d, %e, %f, %g}, %a;")
    case("mov.b128", "pack64", ["b64", "b64"], ["b64", "b64"],
         ".reg .b128 %w;\nmov.b128 %w, {%a, %b};\nmov.b128 {%e, %d}, %w;",
         version="8.3", forms=["mov.b128"])
    case("mov.b16", "pack8", ["b16"], ["b16"],
         ".reg .b8 %lo, %hi;\nmov.b16 {%lo, %hi}, %a;\n"
         "mov.b16 %d, {%hi, %lo};", version="8.0")


def _constants(suite):
    f32 = ["0f3F800000", "0fFF800000", "0f7FC00000", "1.5", "-2.25e3",
           "0f00000001"]
    f64 = ["0d3FF0000000000000", "0dFFF0000000000000", "0.1", "-1e300",
           "0d0000000000000001", "3.0"]
    b32 = ["0", "-1", "0xDEADBEEF", "0b1010", "0777", "4294967295",
           "-2147483648", "(3 + 4) * 5 - 6 / 2"]
    b64 = ["0", "-1", "0xFEDCBA9876543210", "9223372036854775807",
           "-9223372036854775808", "18446744073709551615U", "1 << 40"]
    for type_, values in (("f32", f32), ("f64", f64), ("u32", b32),
                          ("s32", b32), ("u64", b64), ("s64", b64)):
        cell = f"b{WIDTH[type_]}"
        body = "\n".join(f"mov.{type_} %{reg}, {value};"
                         for reg, value in zip("defghjklmo", values))
        lane(suite, f"mov.{type_}", [], [cell] * len(values), body, count=1,
             stem=f"mov.{type_}+imm")


def _special_registers(suite):
    """A 3-D grid of 3-D blocks; row = linear thread number."""
    names = ["tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z",
             "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y",
             "nctaid.z", "laneid", "lanemask_eq", "lanemask_le",
             "lanemask_lt", "lanemask_ge", "lanemask_gt",
             "dynamic_smem_size"]
    threads, blocks = 5 * 4 * 3, 3 * 2 * 2
    linear = """.reg .b32 %i, %t, %n, %d;
.reg .b64 %p;
mov.u32 %i, %ctaid.z;
mov.u32 %n, %nctaid.y;
mov.u32 %t, %ctaid.y;
mad.lo.u32 %i, %i, %n, %t;
mov.u32 %n, %nctaid.x;
mov.u32 %t, %ctaid.x;
mad.lo.u32 %i, %i, %n, %t;
mov.u32 %n, %ntid.z;
mov.u32 %t, %tid.z;
mad.lo.u32 %i, %i, %n, %t;
mov.u32 %n, %ntid.y;
mov.u32 %t, %tid.y;
mad.lo.u32 %i, %i, %n, %t;
mov.u32 %n, %ntid.x;
mov.u32 %t, %tid.x;
mad.lo.u32 %i, %i, %n, %t;
"""
    for name in names:
        free(suite, "mov.u32", [buffer_out("d", "b32", threads * blocks)],
             linear + f"mov.u32 %d, %{name};\n" + store_output("d", "b32"),
             grid=(3, 2, 2), block=(5, 4, 3), shared=48, stem=f"sreg.{name}")


def _clocks(suite):
    for name, width in (("clock", 32), ("clock64", 64), ("globaltimer", 64)):
        body = PROLOGUE + f""".reg .b{width} %x, %y;
.reg .pred %d;
mov.u{width} %x, %{name};
nanosleep.u32 4000;
bar.sync 0;
mov.u{width} %y, %{name};
sub.u{width} %x, %y, %x;
setp.lt.s{width} %d, %x, 0;
"""
        free(suite, f"mov.u{width}", [buffer_out("d", "b8", 32)],
             body + store_output("d", "pred"), stem=f"sreg.{name}",
             forms=[f"mov.u{width}"], note="d: time ran backwards")


DATA = """.global .align 16 .b32 table[4] = {11, 22, 33, 44};
.const .align 4 .b32 fixed[4] = {55, 66, 77, 88};
.global .align 8 .u64 where[2] = {table, generic(table) + 8};
"""


def _addresses(suite):
    body = PROLOGUE + """.reg .b64 %q;
.reg .b32 %d, %e, %f, %g;
mov.u64 %q, table;
ld.global.u32 %d, [%q+4];
ld.global.u32 %e, [table+12];
mov.u64 %q, table+8;
ld.global.u32 %f, [%q];
ld.global.u64 %q, [where+8];
ld.u32 %g, [%q];
"""
    outs = [buffer_out(name, "b32", 1) for name in "defg"]
    for name in "defg":
        body += store_output(name, "b32")
    free(suite, "mov.u64", outs, body, block=(1, 1, 1), decls=DATA,
         stem="mov.u64+symbol")


# space -> (declarations in the body, how %q gets the address of the word 77)
SPACE_SETUP = {
    "global": ("", "mov.u64 %q, table;\nst.global.u32 [table], 77;"),
    "shared": (".shared .align 4 .b32 cell[4];",
               "mov.u64 %q, cell;\nst.shared.u32 [cell], 77;"),
    "local": (".local .align 4 .b32 cell[4];",
              "mov.u64 %q, cell;\nst.local.u32 [cell], 77;"),
    "const": ("", "mov.u64 %q, fixed;\nadd.u64 %q, %q, 8;"),
}


def _spaces(suite):
    for space, (decl, setup) in SPACE_SETUP.items():
        head = PROLOGUE + f"{decl}\n.reg .b64 %q, %g;\n.reg .b32 %d, %e;\n"
        body = head + setup + f"""
cvta.{space}.u64 %g, %q;
ld.u32 %d, [%g];
cvta.to.{space}.u64 %q, %g;
ld.{space}.u32 %e, [%q];
""" + store_output("d", "b32") + store_output("e", "b32")
        outs = [buffer_out("d", "b32", 1), buffer_out("e", "b32", 1)]
        free(suite, f"cvta.{space}.u64", outs, body, block=(1, 1, 1),
             decls=DATA, forms=[f"cvta.{space}.u64", f"cvta.to.{space}.u64"])
    _isspacep(suite)


def _isspacep(suite):
    spaces = list(SPACE_SETUP)
    for asked in spaces:
        for space, (decl, setup) in SPACE_SETUP.items():
            body = PROLOGUE + decl + f"""
.reg .b64 %q, %g;
.reg .pred %d;
{setup}
cvta.{space}.u64 %g, %q;
isspacep.{asked} %d, %g;
""" + store_output("d", "pred")
            free(suite, f"isspacep.{asked}", [buffer_out("d", "b8", 1)], body,
                 block=(1, 1, 1), decls=DATA,
                 stem=f"isspacep.{asked}+{space}")
