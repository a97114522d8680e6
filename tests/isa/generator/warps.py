"""Warp-wide and block-wide instructions: shuffles, votes, matches,
reductions, barriers."""

from generator.kernel import (PROLOGUE, buffer_out, free, lane,
                              store_output)

ALL = "0xffffffff"


def generate(suite):
    _shuffles(suite)
    _votes(suite)
    _matches(suite)
    _redux(suite)
    _active(suite)
    _block_reductions(suite)
    _barriers(suite)


def _shuffles(suite):
    """Sixteen clamp/segment words; lane operand uniform or per lane."""
    for mode in ("up", "down", "bfly", "idx"):
        form = f"shfl.sync.{mode}.b32"
        body, tail = ".reg .pred %r;\n.reg .b32 %x, %y, %z;\n", ""
        body += "mov.u32 %d, 0;\nmov.u32 %e, 0;\n"
        for width in (32, 16, 8, 4, 2, 1):
            clamp = 0 if mode == "up" else 31
            control = (32 - width) << 8 | clamp
            for distance in (0, 1, 2, 5, 16, 31, 33, "%b"):
                body += (f"{form} %x|%r, %a, {distance}, {control}, {ALL};\n"
                         "selp.u32 %y, 1, 0, %r;\n"
                         "mad.lo.u32 %d, %d, 31, %x;\n"
                         "mad.lo.u32 %e, %e, 3, %y;\n")
        lane(suite, form, ["b32", "b32"], ["b32", "b32"], body, count=256,
             note="d folds the values (d * 31 + x), e the predicates")
        lane(suite, form, ["b32", "b32"], ["b32"],
             f"{form} %d, %a, 3, {0 if mode == 'up' else 31}, {ALL};",
             count=64, stem=form + "+plain")
        _partial_shuffle(suite, form, mode)
    _segments(suite)


def _partial_shuffle(suite, form, mode):
    """Lanes 0-19 take part; sources outside them are not read."""
    source = {"up": "2", "down": "2", "bfly": "1", "idx": "%b"}[mode]
    clamp = {"up": 0, "down": 19, "bfly": 31, "idx": 31}[mode]
    body = f""".reg .pred %r, %s;
.reg .b32 %l, %x;
mov.u32 %l, %laneid;
mov.u32 %d, 7;
mov.u32 %e, 7;
rem.u32 %b, %b, 20;
setp.lt.u32 %r, %l, 20;
@!%r bra skip;
{form} %d|%s, %a, {source}, {clamp}, 0xfffff;
selp.u32 %e, 1, 0, %s;
skip:
"""
    lane(suite, form, ["b32", "b32"], ["b32", "b32"], body, count=64,
         stem=form + "+partial")


def _segments(suite):
    """Clamp words other than the usual ones."""
    for mode in ("down", "idx", "bfly", "up"):
        form = f"shfl.sync.{mode}.b32"
        outs = "defghjkl"
        controls = (0x1F, 0x181F, 0x1C07, 0x0F, 0x0007, 0x1003, 0x1E01, 0x00)
        body = "".join(
            f"{form} %{out}, %a, 3, {control}, {ALL};\n"
            for out, control in zip(outs, controls))
        lane(suite, form, ["b32"], ["b32"] * 8, body, count=64,
             stem=form + "+clamp")


VOTE = """.reg .b32 %l, %w;
.reg .pred %r, %s;
mov.u32 %l, %laneid;
shr.u32 %w, %i, 5;
mul.lo.u32 %w, %w, 5;
setp.ge.u32 %r, %l, %w;
"""


def _votes(suite):
    """Warp w votes with lane >= 5 w: all, some and none agree."""
    for mode in ("all", "any", "uni"):
        for form in (f"vote.sync.{mode}.pred", f"vote.{mode}.sync.pred"):
            lane(suite, form, ["b32"], ["pred", "pred"],
                 VOTE + f"{form} %d, %r, {ALL};\n{form} %e, !%r, {ALL};",
                 count=256, block=256)
    for form in ("vote.sync.ballot.b32", "vote.ballot.sync.b32"):
        lane(suite, form, ["b32"], ["b32", "b32"],
             VOTE + f"{form} %d, %r, {ALL};\n{form} %e, !%r, {ALL};",
             count=256, block=256)
    body = VOTE + """mov.u32 %d, 9;
and.b32 %w, %l, 3;
setp.eq.u32 %s, %w, 1;
@!%s bra skip;
vote.sync.ballot.b32 %d, %r, 0x22222222;
skip:
"""
    lane(suite, "vote.sync.ballot.b32", ["b32"], ["b32"], body, count=256,
         block=256, stem="vote.sync.ballot.b32+partial")


def _matches(suite):
    """Warp w matches on lane & w, so groups of every size occur."""
    for width in (32, 64):
        widen = ("cvt.u64.u32 %x, %l;\nmul.lo.u64 %x, %x, 0x100000001;"
                 if width == 64 else "mov.u32 %x, %l;")
        head = f""".reg .b32 %l, %w;
.reg .b{width} %x;
mov.u32 %l, %laneid;
shr.u32 %w, %i, 5;
and.b32 %l, %l, %w;
{widen}
"""
        form = f"match.any.sync.b{width}"
        lane(suite, form, ["b32"], ["b32"],
             head + f"{form} %d, %x, {ALL};", count=256, block=256)
        form = f"match.all.sync.b{width}"
        lane(suite, form, ["b32"], ["b32", "pred"],
             head + f"{form} %d|%e, %x, {ALL};", count=256, block=256)


def _redux(suite):
    ops = [(op, t) for op in ("add", "min", "max") for t in ("u32", "s32")]
    for op, type_ in ops + [(op, "b32") for op in ("and", "or", "xor")]:
        form = f"redux.sync.{op}.{type_}"
        body = f""".reg .b32 %l;
.reg .pred %r;
{form} %d, %a, {ALL};
mov.u32 %l, %laneid;
mov.u32 %e, 3;
setp.ge.u32 %r, %l, 13;
@!%r bra skip;
{form} %e, %a, 0xffffe000;
skip:
"""
        lane(suite, form, ["b32"], ["b32", "b32"], body, sm=80)


def _active(suite):
    lane(suite, "activemask.b32", ["b32"], ["b32"], "activemask.b32 %d;",
         count=64)
    body = """.reg .b32 %x;
elect.sync %x|%d, 0xffffffff;
mov.u32 %e, %x;
"""
    lane(suite, "elect.sync", ["b32"], ["pred", "b32"], body, count=64, sm=90)


def _block_reductions(suite):
    """Four blocks of 96 threads; block b votes with thread >= 32 b."""
    head = PROLOGUE + """.reg .pred %r, %d;
.reg .b32 %x, %e;
mov.u32 %x, %tid.x;
mov.u32 %t, %ctaid.x;
shl.b32 %t, %t, 5;
setp.ge.u32 %r, %x, %t;
"""
    outs = [buffer_out("d", "b8", 384)]
    for family in ("bar", "barrier"):
        for op in ("and", "or"):
            form = f"{family}.red.{op}.pred"
            free(suite, form, outs,
                 head + f"{form} %d, 0, %r;\n" + store_output("d", "pred"),
                 grid=(4, 1, 1), block=(96, 1, 1))
            free(suite, form, outs, head + f"{form} %d, 3, 96, !%r;\n"
                 + store_output("d", "pred"), grid=(4, 1, 1),
                 block=(96, 1, 1), stem=form + "+count")
        form = f"{family}.red.popc.u32"
        free(suite, form, [buffer_out("e", "b32", 384)],
             head + f"{form} %e, 0, %r;\n" + store_output("e", "b32"),
             grid=(4, 1, 1), block=(96, 1, 1))


def _barriers(suite):
    def exchange(barrier, before="", forms=None, stem=None, block=96):
        """Thread i writes, waits, and reads thread block - 1 - i."""
        body = PROLOGUE + f""".reg .b64 %q;
.reg .b32 %x, %d, %k;
.shared .align 4 .b32 mem[{block}];
mov.u64 %q, mem;
mov.u32 %k, 0;
mov.u32 %d, 0;
.reg .pred %r;
round:
mov.u64 %q, mem;
mad.wide.u32 %q, %i, 4, %q;
mad.lo.u32 %x, %i, 17, %k;
st.shared.u32 [%q], %x;
{barrier}
sub.u32 %x, {block - 1}, %i;
mov.u64 %q, mem;
mad.wide.u32 %q, %x, 4, %q;
ld.shared.u32 %x, [%q];
mad.lo.u32 %d, %d, 31, %x;
{barrier}
add.u32 %k, %k, 1;
setp.lt.u32 %r, %k, 5;
@%r bra round;
""" + store_output("d", "b32")
        form = forms[0]
        free(suite, form, [buffer_out("d", "b32", block)], body,
             block=(block, 1, 1), forms=forms, stem=stem)
    exchange("bar.sync 0;", forms=["bar.sync"])
    exchange("bar.sync 5, 96;", forms=["bar.sync"], stem="bar.sync+count")
    exchange("barrier.sync 0;", forms=["barrier.sync"])
    exchange("barrier.sync.aligned 2, 96;", forms=["barrier.sync.aligned"])
    exchange("bar.warp.sync 0xffffffff;", forms=["bar.warp.sync"], block=32)
    exchange("bar.cta.sync 1;", forms=["bar.cta.sync"])
    _named_groups(suite)
    _arrive(suite)


def _named_groups(suite):
    """Warps 0-1 and warps 2-3 loop on their own barriers, unequally long."""
    body = PROLOGUE + """.reg .b64 %q;
.reg .b32 %x, %d, %k, %g, %b, %l;
.reg .pred %r;
.shared .align 4 .b32 mem[128];
mov.u32 %d, 0;
shr.u32 %g, %i, 6;
and.b32 %l, %i, 63;
add.u32 %b, %g, 1;
mad.lo.u32 %k, %g, 4, 3;
round:
mov.u64 %q, mem;
mad.wide.u32 %q, %i, 4, %q;
mad.lo.u32 %x, %i, 13, %k;
st.shared.u32 [%q], %x;
bar.sync %b, 64;
xor.b32 %x, %i, 63;
mov.u64 %q, mem;
mad.wide.u32 %q, %x, 4, %q;
ld.shared.u32 %x, [%q];
mad.lo.u32 %d, %d, 31, %x;
bar.sync %b, 64;
sub.u32 %k, %k, 1;
setp.ne.u32 %r, %k, 0;
@%r bra round;
""" + store_output("d", "b32")
    free(suite, "bar.sync", [buffer_out("d", "b32", 128)], body,
         block=(128, 1, 1), stem="bar.sync+groups")


def _arrive(suite):
    """Warp 0 produces and arrives; warp 1 waits and consumes."""
    for arrive, sync in (("bar.arrive", "bar.sync"),
                         ("barrier.arrive", "barrier.sync")):
        body = PROLOGUE + f""".reg .b64 %q;
.reg .b32 %x, %d;
.reg .pred %r;
.shared .align 4 .b32 mem[32];
mov.u32 %d, 1;
and.b32 %x, %i, 31;
mov.u64 %q, mem;
mad.wide.u32 %q, %x, 4, %q;
setp.lt.u32 %r, %i, 32;
@!%r bra consumer;
mad.lo.u32 %x, %i, %i, 3;
st.shared.u32 [%q], %x;
{arrive} 4, 64;
bra done;
consumer:
{sync} 4, 64;
ld.shared.u32 %d, [%q];
done:
""" + store_output("d", "b32")
        free(suite, arrive, [buffer_out("d", "b32", 64)], body,
             block=(64, 1, 1), forms=[arrive, sync])
