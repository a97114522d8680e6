"""Branches, predication, calls, parameters of device functions."""

from generator.kernel import (PROLOGUE, WIDTH, address, buffer_in, buffer_out,
                              free, lane, store_output)
from generator.memory import LANES, SHAPES, bytes_of, group, register_of
import runfile


def generate(suite):
    _branches(suite)
    _indexed_branch(suite)
    _predication(suite)
    _exits(suite)
    _sleep(suite)
    _calls(suite)
    _indirect(suite)
    _parameter_spaces(suite)
    _struct_parameter(suite)
    _alloca(suite)


def _branches(suite):
    lane(suite, "bra", ["b32"], ["b32"], """.reg .pred %r, %s;
.reg .b32 %x, %k;
and.b32 %x, %a, 1023;
add.u32 %x, %x, 1;
mov.u32 %d, 0;
step:
setp.eq.u32 %r, %x, 1;
@%r bra done;
add.u32 %d, %d, 1;
and.b32 %k, %x, 1;
setp.eq.u32 %s, %k, 0;
@%s bra even;
mad.lo.u32 %x, %x, 3, 1;
bra step;
even:
shr.u32 %x, %x, 1;
bra step;
done:
""", note="steps of the 3n+1 walk: every lane leaves at another time")
    lane(suite, "bra.uni", ["b32"], ["b32"], """.reg .pred %r;
.reg .b32 %k;
mov.u32 %k, 0;
mov.u32 %d, %a;
bra.uni test;
body:
mad.lo.u32 %d, %d, 1664525, 1013904223;
add.u32 %k, %k, 1;
test:
setp.lt.u32 %r, %k, 10;
@%r bra.uni body;
""")
    lane(suite, "bra", ["b32", "b32"], ["b32"], """.reg .pred %r, %s;
.reg .b32 %k, %x;
mov.u32 %d, 0;
mov.u32 %k, 0;
outer:
and.b32 %x, %a, 7;
setp.gt.u32 %r, %k, %x;
@%r bra done;
and.b32 %x, %b, 3;
inner:
add.u32 %d, %d, %x;
setp.eq.u32 %s, %d, 29;
@%s bra done;
setp.eq.u32 %s, %x, 0;
sub.u32 %x, %x, 1;
@!%s bra inner;
mad.lo.u32 %d, %d, 3, %k;
add.u32 %k, %k, 1;
bra outer;
done:
""", stem="bra+nested", note="nested loops with an exit from the inner one")
    lane(suite, "bra", ["b32"], ["b32"], """.reg .pred %r;
.reg .b32 %x;
and.b32 %x, %a, 15;
mov.u32 %d, 0;
setp.lt.u32 %r, %x, 8;
@%r bra second;
first:
mad.lo.u32 %d, %d, 5, 1;
second:
mad.lo.u32 %d, %d, 7, 2;
setp.eq.u32 %r, %x, 0;
@%r bra done;
sub.u32 %x, %x, 1;
bra first;
done:
""", stem="bra+irreducible", note="a loop entered in its middle")


def _indexed_branch(suite):
    lane(suite, "brx.idx", ["b32"], ["b32"], """.reg .b32 %x;
rem.u32 %x, %a, 5;
targets: .branchtargets L0, L1, L2, L1, L3;
brx.idx %x, targets;
L0:
mov.u32 %d, 100;
bra done;
L1:
add.u32 %d, %a, 1;
bra done;
L2:
mov.u32 %d, 300;
L3:
mov.u32 %d, 400;
done:
""")


def _predication(suite):
    lane(suite, "setp.lt.u32", ["b32", "b32"], ["b32", "b32"], """.reg .pred %r;
.reg .b64 %q;
setp.lt.u32 %r, %a, %b;
mov.u32 %d, 1;
@%r mov.u32 %d, 2;
@!%r add.u32 %d, %d, %a;
mov.u32 %e, 5;
ld.param.u64 %q, [a];
@%r ld.global.u32 %e, [%q];
@!%r mov.u64 %q, 0;
@%r ld.global.u32 %e, [%q+4];
@%r add.cc.u32 %d, %d, 7;
@%r addc.u32 %d, %d, 0;
""", stem="predication", note="a false guard suppresses the whole access")


def _exits(suite):
    for word in ("exit", "ret"):
        lane(suite, word, ["b32"], ["b32"], f""".reg .pred %r;
.reg .b32 %l;
mov.u32 %l, %laneid;
setp.gt.u32 %r, %l, 11;
mov.u32 %d, 3;
@%r {word};
mad.lo.u32 %d, %a, 5, %d;
""", count=64, note="lanes above 11 store nothing")
    body = PROLOGUE + """.reg .pred %r;
.reg .b32 %d;
setp.ge.u32 %r, %i, 32;
@%r exit;
bar.sync 0;
mov.u32 %d, 4;
""" + store_output("d", "b32")
    free(suite, "exit", [buffer_out("d", "b32", 64)], body, block=(64, 1, 1),
         stem="exit+barrier", note="exited warps no longer count at barriers")
    lane(suite, "trap", ["b32"], ["b32"], """.reg .pred %r;
setp.ne.u32 %r, %a, %a;
@%r trap;
mov.u32 %d, %a;
""", count=64, note="a trap whose guard is false")


def _sleep(suite):
    lane(suite, "nanosleep.u32", ["b32"], ["b32"], """.reg .b32 %x;
nanosleep.u32 20;
and.b32 %x, %a, 63;
nanosleep.u32 %x;
mov.u32 %d, %a;
""", count=64)


POLYNOMIAL = """.func (.reg .b32 %y) square(.reg .b32 %x)
{
  mul.lo.u32 %y, %x, %x;
  ret;
}
.func (.param .b32 y) clamp(.param .b32 x, .param .b32 limit)
{
  .reg .b32 %x, %l;
  .reg .pred %r;
  ld.param.b32 %x, [x];
  ld.param.b32 %l, [limit];
  setp.gt.u32 %r, %x, %l;
  @!%r bra keep;
  st.param.b32 [y], %l;
  ret;
keep:
  st.param.b32 [y], %x;
  ret;
}
.func store(.param .b64 p, .param .b32 x)
{
  .reg .b64 %p;
  .reg .b32 %x;
  ld.param.b64 %p, [p];
  ld.param.b32 %x, [x];
  st.global.b32 [%p], %x;
  ret;
}
"""

FIBONACCI = """.func (.param .b32 y) fib(.param .b32 n);
.func (.param .b32 y) fib(.param .b32 n)
{
  .reg .b32 %n, %a, %b;
  .reg .pred %r;
  ld.param.b32 %n, [n];
  setp.lt.u32 %r, %n, 2;
  @!%r bra deep;
  st.param.b32 [y], %n;
  ret;
deep:
  sub.u32 %n, %n, 1;
  { .param .b32 x; .param .b32 z;
    st.param.b32 [x], %n;
    call (z), fib, (x);
    ld.param.b32 %a, [z]; }
  sub.u32 %n, %n, 1;
  { .param .b32 x; .param .b32 z;
    st.param.b32 [x], %n;
    call (z), fib, (x);
    ld.param.b32 %b, [z]; }
  add.u32 %a, %a, %b;
  st.param.b32 [y], %a;
  ret;
}
"""


def _calls(suite):
    lane(suite, "call.uni", ["b32", "b32"], ["b32", "b32"], """.reg .b64 %q;
.param .b32 x, limit, y;
.param .b64 where;
call.uni (%d), square, (%a);
st.param.b32 [x], %a;
st.param.b32 [limit], %b;
call.uni (y), clamp, (x, limit);
ld.param.b32 %e, [y];
ld.param.u64 %q, [d];
mad.wide.u32 %q, %i, 4, %q;
st.param.b64 [where], %q;
st.param.b32 [x], 17;
call.uni store, (where, x);
ld.global.b32 %t, [%q];
sub.u32 %t, %t, 17;
add.u32 %d, %d, %t;
""", decls=POLYNOMIAL)
    lane(suite, "call", ["b32", "b32"], ["b32"], """.reg .pred %r;
.param .b32 x, limit, y;
mov.u32 %d, %b;
setp.gt.u32 %r, %a, %b;
@!%r bra skip;
st.param.b32 [x], %a;
st.param.b32 [limit], 1000;
call (y), clamp, (x, limit);
ld.param.b32 %d, [y];
skip:
""", decls=POLYNOMIAL, note="a call that part of the warp makes")
    lane(suite, "call", ["b32"], ["b32"], """.reg .b32 %x;
.param .b32 n, y;
and.b32 %x, %a, 7;
st.param.b32 [n], %x;
call (y), fib, (n);
ld.param.b32 %d, [y];
""", decls=FIBONACCI, count=64, stem="call+recursion")


def _indirect(suite):
    functions = "".join(f""".func (.param .b32 y) f{k}(.param .b32 x)
{{
  .reg .b32 %x;
  ld.param.b32 %x, [x];
  {op};
  st.param.b32 [y], %x;
  ret;
}}
""" for k, op in enumerate(("add.u32 %x, %x, 1", "mul.lo.u32 %x, %x, 3",
                            "not.b32 %x, %x")))
    table = ".global .align 8 .u64 functions[3] = {f0, f1, f2};\n"
    lane(suite, "call", ["b32"], ["b32"], """.reg .b32 %x;
.reg .b64 %q, %f;
.param .b32 x, y;
rem.u32 %x, %a, 3;
mov.u64 %q, functions;
mad.wide.u32 %q, %x, 8, %q;
ld.global.u64 %f, [%q];
st.param.b32 [x], %a;
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
call (y), %f, (x), proto;
ld.param.b32 %d, [y];
""", decls=functions + table, stem="call+indirect")


def _parameter_spaces(suite):
    """st.param and ld.param of every shape around a call."""
    for vector, type_ in SHAPES:
        if type_.startswith("s") and vector:
            continue
        _parameter(suite, vector, type_)


def _parameter(suite, vector, type_):
    size, count = bytes_of(vector, type_), LANES[vector]
    reg = register_of(vector, type_)
    dot = f".{vector}" if vector else ""
    # Functions take no scalar parameter narrower than 32 bits.
    declare = (f".param .align 16 .b8 {{}}[{size}]"
               if vector or WIDTH[type_] < 32 else f".param .{type_} {{}}")
    names = [f"%s{k}" for k in range(count)]
    swapped = list(reversed(names))
    decls = f""".func ({declare.format('y')}) turn({declare.format('x')})
{{
  .reg .{reg} {', '.join(names)};
  ld.param{dot}.{type_} {group(vector, names)}, [x];
  st.param{dot}.{type_} [y], {group(vector, swapped)};
  ret;
}}
"""
    body = PROLOGUE + f".reg .{reg} {', '.join(names)};\n"
    body += address("a", count * runfile.SIZES[reg])
    step = runfile.SIZES[reg]
    for k, name in enumerate(names):
        body += f"ld.global.{reg} {name}, [%p+{k * step}];\n"
    body += f"""{declare.format('x')};
{declare.format('y')};
st.param{dot}.{type_} [x], {group(vector, names)};
call.uni (y), turn, (x);
ld.param{dot}.{type_} {group(vector, names)}, [y];
""" + address("d", count * step)
    for k, name in enumerate(names):
        body += f"st.global.{reg} [%p+{k * step}], {name};\n"
    params = [buffer_in(suite, "a", reg, 32 * count),
              buffer_out("d", reg, 32 * count)]
    free(suite, f"st.param{dot}.{type_}", params, body, decls=decls,
         forms=[f"st.param{dot}.{type_}", f"ld.param{dot}.{type_}"])


def _struct_parameter(suite):
    decls = """.func (.param .align 8 .b8 y[24]) \
rotate(.param .align 8 .b8 x[24])
{
  .reg .b64 %q;
  .reg .b32 %a, %b;
  .reg .b16 %h;
  ld.param.b64 %q, [x];
  ld.param.b32 %a, [x+8];
  ld.param.b16 %h, [x+12];
  ld.param.b32 %b, [x+16];
  add.u64 %q, %q, 1;
  st.param.b64 [y+16], %q;
  st.param.b32 [y+4], %a;
  st.param.b32 [y], %b;
  st.param.b16 [y+8], %h;
  st.param.b8 [y+10], 7;
  st.param.b8 [y+11], %a;
  st.param.b32 [y+12], 99;
  ret;
}
"""
    lane(suite, "st.param.b64", ["b64", "b32", "b32"], ["b64"] * 3, """
.reg .b16 %h;
.param .align 8 .b8 x[24];
.param .align 8 .b8 y[24];
cvt.u16.u32 %h, %b;
st.param.b64 [x], %a;
st.param.b32 [x+8], %b;
st.param.b16 [x+12], %h;
st.param.b32 [x+16], %c;
call.uni (y), rotate, (x);
ld.param.b64 %d, [y];
ld.param.b64 %e, [y+8];
ld.param.b64 %f, [y+16];
""", decls=decls, stem="struct-parameter", count=128)


def _alloca(suite):
    lane(suite, "alloca.u64", ["b32"], ["b32"], """.reg .b64 %q, %w;
.reg .b32 %k, %x;
.reg .pred %r;
and.b32 %x, %a, 7;
add.u32 %x, %x, 1;
mul.wide.u32 %w, %x, 4;
alloca.u64 %q, %w, 16;
mov.u32 %k, 0;
fill:
mad.wide.u32 %w, %k, 4, %q;
mad.lo.u32 %d, %k, 11, %a;
st.local.u32 [%w], %d;
add.u32 %k, %k, 1;
setp.lt.u32 %r, %k, %x;
@%r bra fill;
mov.u32 %d, 0;
mov.u32 %k, 0;
sum:
mad.wide.u32 %w, %k, 4, %q;
ld.local.u32 %x, [%w];
mad.lo.u32 %d, %d, 31, %x;
add.u32 %k, %k, 1;
and.b32 %x, %a, 7;
setp.le.u32 %r, %k, %x;
@%r bra sum;
""", sm=70)
    lane(suite, "stackrestore.u64", ["b32"], ["b32"], """.reg .b64 %q, %s;
.reg .b32 %k, %x;
.reg .pred %r;
and.b32 %x, %a, 31;
add.u32 %x, %x, 1;
mov.u32 %d, 0;
step:
stacksave.u64 %s;
alloca.u64 %q, 64, 32;
mad.lo.u32 %d, %d, 5, %a;
st.local.u32 [%q+60], %d;
ld.local.u32 %d, [%q+60];
and.b64 %q, %q, 31;
cvt.u32.u64 %k, %q;
stackrestore.u64 %s;
sub.u32 %x, %x, 1;
add.u32 %d, %d, %k;
setp.ne.u32 %r, %x, 0;
@%r bra step;
""", sm=70, forms=["stacksave.u64", "stackrestore.u64"])
