"""Loads and stores: every space, width, vector, sign and qualifier.

Loads: the bytes of the input buffer are placed in the space word by word;
thread i then loads element (5 i + 3) mod 64 by the form under test. Stores:
thread i stores there, and the bytes are dumped word by word.
"""

from generator.kernel import (PROLOGUE, WIDTH, address, buffer_in, buffer_out,
                              free, store_output)
import runfile

THREADS = 64
SCALARS = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32",
           "b64", "u64", "s64", "f64")
PAIRS = ("b8", "u8", "b16", "u16", "b32", "u32", "s32", "f32", "b64", "u64",
         "f64")
QUADS = ("b8", "u8", "b16", "u16", "b32", "u32", "s32", "f32")
SHAPES = ([("", t) for t in SCALARS] + [("v2", t) for t in PAIRS]
          + [("v4", t) for t in QUADS])
LANES = {"": 1, "v2": 2, "v4": 4}


def generate(suite):
    for space in ("global", "shared", "local", ""):
        for vector, type_ in SHAPES:
            load(suite, space, f"ld{dot(space)}", vector, type_)
            store(suite, space, f"st{dot(space)}", vector, type_)
    for vector, type_ in SHAPES:
        load(suite, "const", "ld.const", vector, type_)
        _param(suite, vector, type_)
    _qualified(suite)
    _initialisers(suite)
    _dynamic_shared(suite)
    _fences(suite)
    _prefetch(suite)


def dot(word):
    return f".{word}" if word else ""


def register_of(vector, type_):
    """Narrow scalars load into wider registers, narrow vectors do not."""
    width = WIDTH[type_]
    if width >= 32:
        return f"b{width}"
    return "b16" if vector else "b32"


def bytes_of(vector, type_):
    return LANES[vector] * WIDTH[type_] // 8


def group(vector, names):
    return "{" + ", ".join(names) + "}" if vector else names[0]


HEAD = PROLOGUE + """.reg .b64 %q, %w;
.reg .b32 %j, %k, %x;
.reg .pred %r;
mad.lo.u32 %j, %i, 5, 3;
and.b32 %j, %j, 63;
"""


def copy_words(words, source, target):
    """Each thread copies words i, i + 64, ... below `words`; source and
    target are statements around %x with the byte offset in %k."""
    text = ""
    for start in range(0, words, THREADS):
        guard = "@%r " if words - start < THREADS else ""
        if guard:
            text += f"setp.lt.u32 %r, %i, {words - start};\n"
        text += f"add.u32 %k, %i, {start};\nshl.b32 %k, %k, 2;\n"
        text += "cvt.u64.u32 %w, %k;\n"
        text += "".join(f"{guard}{line}\n" for line in source + target)
    return text


def load_global_word(name):
    return [f"ld.param.u64 %q, [{name}];", "add.u64 %q, %q, %w;",
            "ld.global.b32 %x, [%q];"]


def store_global_word(name):
    return [f"ld.param.u64 %q, [{name}];", "add.u64 %q, %q, %w;",
            "st.global.b32 [%q], %x;"]


def space_word(space, op):
    """Accesses word %w of the array `mem` of a space."""
    access = f"ld.{space}.b32 %x, [%q];" if op == "ld" else (
        f"st.{space}.b32 [%q], %x;")
    return ["mov.u64 %q, mem;", "add.u64 %q, %q, %w;", access]


def element_address(space, size, generic):
    """%p = address of element %j in the space under test."""
    if space in ("global", ""):
        return f"ld.param.u64 %p, [a];\nmad.wide.u32 %p, %j, {size}, %p;\n"
    text = f"mov.u64 %p, mem;\nmad.wide.u32 %p, %j, {size}, %p;\n"
    return text + (f"cvta.{space}.u64 %p, %p;\n" if generic else "")


def load(suite, space, prefix, vector, type_, stem=None, sm=70,
         version="8.0"):
    form = f"{prefix}{dot(vector)}.{type_}"
    size = bytes_of(vector, type_)
    words = max(THREADS * size // 4, 1)
    params = [buffer_in(suite, "a", "b32", words)]
    body, decls = HEAD, ""
    if space == "shared":
        body += f".shared .align 16 .b8 mem[{4 * words}];\n"
        body += copy_words(words, load_global_word("a"),
                           space_word("shared", "st")) + "bar.sync 0;\n"
    elif space == "local":
        body += f".local .align 16 .b8 mem[{16 * size}];\n"
        body += _fill_local(size)
    elif space == "const":
        values = ", ".join(str((k * 37 + 11) & 255)
                           for k in range(THREADS * size))
        decls = (f".const .align 16 .b8 mem[{THREADS * size}] = {{\n"
                 + _wrap(values) + "};\n")
        params = []
    target = register_of(vector, type_)
    names = [f"%d{k}" for k in range(LANES[vector])]
    body += f".reg .{target} {', '.join(names)};\n"
    body += element_address(space, size, False)
    body += f"{form} {group(vector, names)}, [%p];\n"
    body += _store_lanes(names, target)
    params.append(buffer_out("d", target, THREADS * len(names)))
    free(suite, form, params, body, block=(THREADS, 1, 1), decls=decls,
         stem=stem, sm=sm, version=version)


def _wrap(text):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > 76:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join(lines + [line]) + "\n"


def _store_lanes(names, target):
    count, size = len(names), runfile.SIZES[target]
    text = address("d", count * size)
    for k, name in enumerate(names):
        text += f"st.global.{target} [%p+{k * size}], {name};\n"
    return text


def _fill_local(size):
    """Thread i keeps elements 16 (i mod 4) to 16 (i mod 4) + 15 of the input
    and reads one of them."""
    text = "ld.param.u64 %q, [a];\nand.b32 %k, %i, 3;\n"
    text += f"mad.wide.u32 %q, %k, {16 * size}, %q;\nmov.u64 %w, mem;\n"
    for offset in range(0, 16 * size, 4):
        text += (f"ld.global.b32 %x, [%q+{offset}];\n"
                 f"st.local.b32 [%w+{offset}], %x;\n")
    return text + "and.b32 %j, %j, 15;\n"


def store(suite, space, prefix, vector, type_, stem=None, sm=70,
          version="8.0"):
    form = f"{prefix}{dot(vector)}.{type_}"
    size, count = bytes_of(vector, type_), LANES[vector]
    source = register_of(vector, type_)
    params = [buffer_in(suite, "v", source, THREADS * count)]
    params[0].name = "v"
    names = [f"%s{k}" for k in range(count)]
    body = HEAD + f".reg .{source} {', '.join(names)};\n"
    body += address("v", count * runfile.SIZES[source])
    for k, name in enumerate(names):
        body += (f"ld.global.{source} {name}, "
                 f"[%p+{k * runfile.SIZES[source]}];\n")
    words = THREADS * size // 4
    if space == "shared":
        body += f".shared .align 16 .b8 mem[{4 * words}];\n"
    if space == "local":
        words = 16 * size // 4
        body += f".local .align 16 .b8 mem[{16 * size}];\n"
        body += "mov.u64 %w, mem;\nand.b32 %j, %j, 15;\n"
        for offset in range(0, 16 * size, 4):
            body += f"st.local.b32 [%w+{offset}], %i;\n"
    body += element_address(space, size, False).replace("[a]", "[d]")
    body += f"{form} [%p], {group(vector, names)};\n"
    if space == "shared":
        body += "bar.sync 0;\n" + copy_words(
            words, space_word("shared", "ld"), store_global_word("d"))
    if space == "local":
        body += address("d", 16 * size)
        for offset in range(0, 16 * size, 4):
            body += (f"ld.local.b32 %x, [%w+{offset}];\n"
                     f"st.global.b32 [%p+{offset}], %x;\n")
        words *= THREADS
    params.append(buffer_out("d", "b32", words))
    free(suite, form, params, body, block=(THREADS, 1, 1), stem=stem, sm=sm,
         version=version)


def _param(suite, vector, type_):
    """A 64-byte struct parameter read at three offsets, and a scalar."""
    form = f"ld.param{dot(vector)}.{type_}"
    size, target = bytes_of(vector, type_), register_of(vector, type_)
    data = bytes((k * 73 + 201) & 255 for k in range(64))
    params = [runfile.Param("arg", "s", value=data)]
    declared = [".align 16 .b8 s[64]"]
    if not vector:
        params.append(runfile.Param("arg", "v", value=data[5:5 + size]))
        declared.append(f".{type_} v")
    body = PROLOGUE
    places = [f"s+{k * size}" for k in (0, 1, 3)]
    places += [] if vector else ["v"]
    count = LANES[vector]
    step = runfile.SIZES[target]
    body += "ld.param.u64 %p, [d];\n"
    for index, place in enumerate(places):
        names = [f"%d{index}_{k}" for k in range(count)]
        body += f".reg .{target} {', '.join(names)};\n"
        body += f"{form} {group(vector, names)}, [{place}];\n"
        for k, name in enumerate(names):
            offset = (index * count + k) * step
            body += f"st.global.{target} [%p+{offset}], {name};\n"
    params.append(buffer_out("d", target, len(places) * count))
    free(suite, form, params, body, block=(1, 1, 1),
         declared=declared + [".u64 d"])


def _qualified(suite):
    for vector, type_ in (
            [("", t) for t in ("u8", "s8", "u16", "s16", "b32", "u32", "s32",
                               "f32", "u64", "f64")]
            + [("v2", t) for t in ("u8", "u16", "u32", "f32", "u64", "f64")]
            + [("v4", t) for t in ("u8", "u16", "u32", "f32")]):
        load(suite, "global", "ld.global.nc", vector, type_)
    for space in ("global", "shared", ""):
        for type_ in ("u8", "s8", "u16", "u32", "s32", "f32", "u64", "f64"):
            load(suite, space, f"ld.volatile{dot(space)}", "", type_)
            store(suite, space, f"st.volatile{dot(space)}", "", type_)
        for scope in ("cta", "gpu", "sys"):
            _ordered(suite, space, scope)
    load(suite, "global", "ld.volatile.global", "v4", "u32")
    store(suite, "global", "st.volatile.global", "v4", "u32")
    _cached(suite)


def _ordered(suite, space, scope):
    types = [("", "u32"), ("", "b32"), ("", "b64")]
    if scope == "gpu":
        types += [("", "f32"), ("v2", "u32"), ("v2", "u64")]
    if scope == "sys":
        types += [("", "u8")]
    for vector, type_ in types:
        for sem in ("relaxed", "acquire"):
            load(suite, space, f"ld.{sem}.{scope}{dot(space)}", vector, type_)
        for sem in ("relaxed", "release"):
            store(suite, space, f"st.{sem}.{scope}{dot(space)}", vector,
                  type_)


def _cached(suite):
    for prefix in ("ld.global.ca", "ld.global.cg", "ld.global.cs",
                   "ld.global.lu", "ld.global.cv", "ld.ca", "ld.cg"):
        load(suite, "global", prefix, "", "u32")
    for vector, type_ in (("", "f32"), ("", "b16"), ("v4", "s32"),
                          ("v4", "f32")):
        load(suite, "global", "ld.global.cs", vector, type_)
    load(suite, "global", "ld.global.cg", "", "b32")
    for vector in ("", "v4"):
        load(suite, "global", "ld.global.L2::128B", vector, "u32", sm=75)
    for prefix in ("st.global.wb", "st.global.cg", "st.global.cs",
                   "st.global.wt", "st.cg"):
        store(suite, "global", prefix, "", "u32")
    for vector, type_ in (("", "f32"), ("", "b16"), ("v4", "s32")):
        store(suite, "global", "st.global.cs", vector, type_)
    store(suite, "global", "st.global.cg", "v4", "s32")
    for vector, type_ in (("", "u8"), ("", "u16"), ("", "u32"), ("", "s32"),
                          ("", "f32"), ("", "u64"), ("", "f64"),
                          ("v2", "u32")):
        load(suite, "global", "ldu.global", vector, type_)
    load(suite, "global", "ldu", "", "u32")


INITIALISED = """.global .align 1 .b8 bytes[8] = {1, -1, 0x7f, 'A' - 1, 255};
.global .align 2 .u16 halves[4] = {1, 65535};
.global .align 4 .f32 floats[4] = {1.5, 0fBF800000, 2.0, -0.0};
.global .align 8 .f64 doubles[2] = {0.1, 0d4000000000000000};
.global .align 8 .u64 wide[2] = {0xFEDCBA9876543210, -2};
.global .align 4 .b32 blank[2];
.const .align 4 .s32 grid2[2][3] = {{1, -2, 3}, {4}};
.global .align 4 .b32 scalar = 42;
""".replace("'A' - 1", "64")


def _initialisers(suite):
    """Dumps module variables that have initialisers."""
    sizes = (("bytes", 8, "global"), ("halves", 8, "global"),
             ("floats", 16, "global"), ("doubles", 16, "global"),
             ("wide", 16, "global"), ("blank", 8, "global"),
             ("grid2", 24, "const"), ("scalar", 4, "global"))
    body, offset = PROLOGUE + ".reg .b32 %x;\nld.param.u64 %p, [d];\n", 0
    for name, size, space in sizes:
        for place in range(0, size, 4):
            if name == "bytes":
                for k in range(4):
                    body += (f"ld.global.u8 %x, [bytes+{place + k}];\n"
                             f"st.global.u8 [%p+{offset + k}], %x;\n")
            else:
                width = "u16" if name == "halves" else "b32"
                for k in range(0, 4, 2 if width == "u16" else 4):
                    body += (f"ld.{space}.{width} %x, [{name}+{place + k}];\n"
                             f"st.global.{width} [%p+{offset + k}], %x;\n")
            offset += 4
    free(suite, "ld.global.u8", [buffer_out("d", "b32", offset // 4)], body,
         block=(1, 1, 1), decls=INITIALISED, stem="module-variables",
         forms=["ld.global.u8", "ld.global.u16", "ld.global.b32",
                "ld.const.b32"])


def _dynamic_shared(suite):
    decls = ".extern .shared .align 16 .b8 dynamic[];\n"
    body = PROLOGUE + """.reg .b64 %q;
.reg .b32 %x, %y, %d;
.shared .align 4 .b32 fixed[64];
ld.param.u64 %p, [a];
mad.wide.u32 %p, %i, 4, %p;
ld.global.b32 %x, [%p];
mov.u64 %q, dynamic;
mad.wide.u32 %q, %i, 4, %q;
st.shared.b32 [%q], %x;
mov.u64 %p, fixed;
mad.wide.u32 %p, %i, 4, %p;
st.shared.b32 [%p], %i;
bar.sync 0;
sub.u32 %x, 63, %i;
mov.u64 %q, dynamic;
mad.wide.u32 %q, %x, 4, %q;
ld.shared.b32 %d, [%q];
mov.u64 %p, fixed;
mad.wide.u32 %p, %x, 4, %p;
ld.shared.b32 %y, [%p];
add.u32 %d, %d, %y;
""" + store_output("d", "b32")
    free(suite, "ld.shared.b32", [buffer_in(suite, "a", "b32", 64),
                                  buffer_out("d", "b32", 64)],
         body, block=(64, 1, 1), decls=decls, shared=256,
         stem="dynamic-shared", forms=["ld.shared.b32", "st.shared.b32"])


def _fences(suite):
    """Threads exchange words through memory around a fence and a barrier."""
    fences = ["membar.cta", "membar.gl", "membar.sys"]
    fences += [f"fence.{kind}.{scope}" for kind in ("acq_rel", "sc")
               for scope in ("cta", "gpu", "sys")]
    for fence in fences:
        body = PROLOGUE + f""".reg .b32 %x, %d;
ld.param.u64 %p, [m];
mad.wide.u32 %p, %i, 4, %p;
mad.lo.u32 %x, %i, %i, 7;
st.volatile.global.u32 [%p], %x;
{fence};
bar.sync 0;
ld.param.u64 %p, [m];
sub.u32 %x, 63, %i;
mad.wide.u32 %p, %x, 4, %p;
ld.volatile.global.u32 %d, [%p];
""" + store_output("d", "b32")
        free(suite, fence, [runfile.Param("inout", "m", "b32", 64, "zero"),
                            buffer_out("d", "b32", 64)],
             body, block=(64, 1, 1))


def _prefetch(suite):
    for form, operand in (("prefetch.global.L1", "[%p]"),
                          ("prefetch.global.L2", "[%p]"),
                          ("prefetch.L1", "[%p]"), ("prefetchu.L1", "[%p]")):
        body = PROLOGUE + ".reg .b32 %d;\n" + address("a", 4) + (
            f"{form} {operand};\nld.global.b32 %d, [%p];\n")
        free(suite, form, [buffer_in(suite, "a", "b32", 64),
                           buffer_out("d", "b32", 64)],
             body + store_output("d", "b32"), block=(64, 1, 1))
