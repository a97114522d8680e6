"""Asynchronous copies, transaction barriers, cluster instructions (in a
cluster of one block), and a few rarely spelled forms."""

from generator.kernel import (PROLOGUE, address, buffer_in, buffer_out, free,
                              lane, store_output)
import runfile

HEAD = PROLOGUE + """.reg .b64 %q, %g;
.reg .b32 %x, %d;
.shared .align 16 .b8 mem[1024];
mov.u64 %q, mem;
mad.wide.u32 %q, %i, 16, %q;
ld.param.u64 %g, [a];
mad.wide.u32 %g, %i, 16, %g;
mov.u32 %x, 0x55555555;
st.shared.v4.b32 [%q], {%x, %x, %x, %x};
bar.sync 0;
"""

DUMP = """bar.sync 0;
sub.u32 %x, 63, %i;
mov.u64 %q, mem;
mad.wide.u32 %q, %x, 16, %q;
.reg .b32 %d0, %d1, %d2, %d3;
ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%q];
""" + address("d", 16) + """st.global.v4.b32 [%p], {%d0, %d1, %d2, %d3};
"""


def generate(suite):
    _cp_async(suite)
    _mbarrier(suite)
    _cluster(suite)
    _wide_words(suite)
    _param_address(suite)


def _copy_case(suite, form, body, forms, stem=None, sm=80):
    free(suite, form, [buffer_in(suite, "a", "noise", 256),
                       buffer_out("d", "b32", 256)],
         HEAD + body + DUMP, block=(64, 1, 1), sm=sm, forms=forms, stem=stem)


def _cp_async(suite):
    hints = ("", ".L2::64B", ".L2::128B", ".L2::256B")
    for hint in hints:
        for size in (4, 8, 16):
            form = f"cp.async.ca.shared.global{hint}"
            _copy_case(suite, form, f"{form} [%q], [%g], {size};\n"
                       "cp.async.commit_group;\ncp.async.wait_group 0;\n",
                       [form, "cp.async.commit_group", "cp.async.wait_group"],
                       stem=f"{form}+{size}")
        form = f"cp.async.cg.shared.global{hint}"
        _copy_case(suite, form,
                   f"{form} [%q], [%g], 16;\ncp.async.wait_all;\n",
                   [form, "cp.async.wait_all"])
    form = "cp.async.cg.shared.global"
    _copy_case(suite, form, f"""and.b32 %x, %i, 15;
{form} [%q], [%g], 16, %x;
cp.async.commit_group;
cp.async.wait_group 0;
""", [form], stem=form + "+size")
    _copy_case(suite, form, f"""{form} [%q], [%g], 16;
cp.async.commit_group;
cp.async.ca.shared.global [%q+4], [%g], 4;
cp.async.commit_group;
cp.async.wait_group 1;
cp.async.wait_group 0;
""", [form, "cp.async.wait_group"], stem="cp.async.wait_group+two")


def _mbarrier(suite):
    """64 threads arrive; each then waits for phase 0 and for phase 1."""
    variants = (
        ("mbarrier.init.shared.b64", "mbarrier.arrive.shared.b64 %s, [bar];",
         "mbarrier.test_wait.shared.b64 %r, [bar], %s;", 80),
        ("mbarrier.init.shared::cta.b64",
         "mbarrier.arrive.shared::cta.b64 %s, [bar];",
         "mbarrier.try_wait.parity.shared::cta.b64 %r, [bar], %x;", 90),
        ("mbarrier.init.shared.b64",
         "mbarrier.arrive.release.cta.shared::cta.b64 %s, [bar];",
         "mbarrier.test_wait.parity.shared.b64 %r, [bar], %x;", 90))
    for init, arrive, wait, sm in variants:
        names = [init] + [text.split()[0] for text in (arrive, wait)]
        body = PROLOGUE + f""".reg .b64 %s, %q;
.reg .b32 %x, %d;
.reg .pred %r;
.shared .align 8 .b64 bar;
.shared .align 4 .b32 mem[64];
setp.eq.u32 %r, %i, 0;
@%r {init} [bar], 64;
bar.sync 0;
mov.u64 %q, mem;
mad.wide.u32 %q, %i, 4, %q;
mov.u32 %d, 0;
mov.u32 %x, 0;
phase:
mad.lo.u32 %n, %i, 3, %x;
st.shared.u32 [%q], %n;
{arrive}
wait:
{wait}
@!%r bra wait;
sub.u32 %n, 63, %i;
mov.u64 %p, mem;
mad.wide.u32 %p, %n, 4, %p;
ld.shared.u32 %n, [%p];
mad.lo.u32 %d, %d, 31, %n;
bar.sync 0;
add.u32 %x, %x, 1;
setp.lt.u32 %r, %x, 2;
@%r bra phase;
setp.eq.u32 %r, %i, 0;
@%r mbarrier.inval.shared.b64 [bar];
""" + store_output("d", "b32")
        free(suite, names[1], [buffer_out("d", "b32", 64)], body,
             block=(64, 1, 1), sm=sm,
             forms=names + ["mbarrier.inval.shared.b64"],
             stem=f"{names[1]}+{names[2].split('.')[1]}")


def _cluster(suite):
    for arrive in ("barrier.cluster.arrive", "barrier.cluster.arrive.aligned",
                   "barrier.cluster.arrive.relaxed.aligned"):
        wait = ("barrier.cluster.wait.aligned" if "aligned" in arrive
                else "barrier.cluster.wait")
        body = PROLOGUE + f""".reg .b64 %q, %g;
.reg .b32 %x, %d;
.shared .align 4 .b32 mem[64];
mov.u64 %q, mem;
mad.wide.u32 %q, %i, 4, %q;
mul.lo.u32 %x, %i, 9;
st.shared.u32 [%q], %x;
membar.cta;
{arrive};
{wait};
cvta.shared.u64 %g, %q;
mapa.u64 %g, %g, 0;
ld.u32 %d, [%g];
getctarank.u64 %x, %g;
mad.lo.u32 %d, %x, 1000, %d;
mov.u32 %x, %cluster_ctarank;
mad.lo.u32 %d, %x, 100000, %d;
mov.u32 %x, %cluster_nctarank;
add.u32 %d, %d, %x;
""" + store_output("d", "b32")
        free(suite, arrive, [buffer_out("d", "b32", 64)], body,
             block=(64, 1, 1), sm=90,
             forms=[arrive, wait, "mapa.u64", "getctarank.u64"])


def _wide_words(suite):
    for space in ("global", "shared"):
        body = PROLOGUE + f""".reg .b64 %q, %x, %y;
.reg .b128 %w;
.shared .align 16 .b8 mem[512];
ld.param.u64 %p, [a];
mad.wide.u32 %p, %i, 16, %p;
ld.global.b128 %w, [%p];
{address('d', 16)}
""" + ("""mov.u64 %q, mem;
mad.wide.u32 %q, %i, 16, %q;
st.shared.b128 [%q], %w;
ld.shared.b128 %w, [%q];
""" if space == "shared" else "") + "st.global.b128 [%p], %w;\n"
        forms = [f"ld.{space}.b128", f"st.{space}.b128"]
        free(suite, forms[0], [buffer_in(suite, "a", "b64", 64),
                               buffer_out("d", "b64", 64)], body,
             version="8.3", forms=forms)
    lane(suite, "cvta.to.global.u64", ["b32"], ["b32"], """.reg .b64 %q;
ld.param.u64 %q, [a];
cvta.to.global.u64 %q, %q;
mad.wide.u32 %q, %i, 4, %q;
ld.global.nc.u32 %d, [%q];
""", count=64, stem="cvta.to.global.u64+param")


def _param_address(suite):
    data = bytes((k * 59 + 7) & 255 for k in range(64))
    body = PROLOGUE + """.reg .b64 %q, %g;
.reg .b32 %d, %x;
mov.u64 %q, s;
cvta.param.u64 %g, %q;
and.b32 %x, %i, 15;
mad.wide.u32 %g, %x, 4, %g;
ld.u32 %d, [%g];
""" + store_output("d", "b32")
    free(suite, "cvta.param.u64",
         [runfile.Param("arg", "s", value=data), buffer_out("d", "b32", 32)],
         body, declared=[".align 16 .b8 s[64]", ".u64 d"])
