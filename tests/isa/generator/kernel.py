"""Builds run-files: the standard one-lane-per-row kernel, and free kernels.

A lane kernel gives row i of every input column to thread i, runs the body
once, and stores the results to row i of every output buffer.
"""

import runfile
from generator import pools

# Register class and how one element is loaded and stored.
REGISTER = {"b8": "b32", "b16": "b16", "b32": "b32", "b64": "b64",
            "f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32",
            "f32": "b32", "f64": "b64"}
ACCESS = {"b8": "u8", "b16": "b16", "b32": "b32", "b64": "b64", "f16": "b16",
          "bf16": "b16", "f16x2": "b32", "bf16x2": "b32", "f32": "b32",
          "f64": "b64"}
INPUT_NAMES = "abcuvw"
OUTPUT_NAMES = "defghjklmoqrsxyz"  # %i %n %p %t are the prologue's

FLOAT = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")
WIDTH = {"u8": 8, "s8": 8, "b8": 8, "u16": 16, "s16": 16, "b16": 16,
         "f16": 16, "bf16": 16, "u32": 32, "s32": 32, "b32": 32, "f32": 32,
         "f16x2": 32, "bf16x2": 32, "u64": 64, "s64": 64, "b64": 64,
         "f64": 64}


def element(type_):
    """The buffer element type of a PTX operand type."""
    return type_ if type_ in FLOAT else f"b{WIDTH[type_]}"


def pool_of(type_):
    return element(type_)


class Suite:
    """Everything generated: run-files by file stem, and the input sets."""

    def __init__(self):
        self.files, self.sets = {}, {}

    def add(self, stem, run):
        stem = stem.replace("::", "_")
        if stem in self.files:
            raise ValueError(f"duplicate run-file '{stem}'")
        self.files[stem] = run

    def column_sources(self, names, count):
        """Registers the columns and returns their source words."""
        key = pools.column_key(names, count)
        sources = []
        for i, column in enumerate(pools.columns(names, count)):
            name = f"{key}.{i}"
            width = max(8, _bits(max(column), names[i]))
            self.sets[name] = (f"b{width}", column)
            sources.append("set:" + name)
        return sources


POOL_TYPE = {"shift": "b32", "len": "b32", "bool": "b8", "trig": "f32",
             "exp": "f32", "tanh": "f32", "hexp": "f16", "bexp": "bf16",
             "noise": "b32", "hexpx2": "f16x2", "bexpx2": "bf16x2"}


def type_of_pool(pool):
    if pool in POOL_TYPE:
        return POOL_TYPE[pool]
    if pool.startswith(("small", "unit")):
        return pool.removeprefix("small").removeprefix("unit")
    if pool.startswith(("nz", "zero")):
        return "b" + pool.lstrip("nzero")
    return pool


def _bits(largest, pool):
    return 8 * runfile.SIZES[type_of_pool(pool)]


def module(params, body, sm, version, decls=""):
    """Complete module text with one entry named `isa`."""
    declared = ",\n".join(f"    .param {param}" for param in params)
    head = f".version {version}\n.target sm_{sm}\n.address_size 64\n"
    if decls:
        head += decls.strip("\n") + "\n"
    return (f"{head}.visible .entry isa(\n{declared})\n{{\n"
            + indent(body) + "  ret;\n}\n")


def indent(body):
    return "".join(f"  {line.strip()}\n" for line in body.strip().splitlines()
                   if line.strip())


def address(name, bytes_, index="%i"):
    return (f"ld.param.u64 %p, [{name}];\n"
            f"mad.wide.u32 %p, {index}, {bytes_}, %p;\n")


PROLOGUE = """.reg .b32 %i, %t, %n;
.reg .b64 %p;
mov.u32 %t, %ctaid.x;
mov.u32 %n, %ntid.x;
mov.u32 %i, %tid.x;
mad.lo.u32 %i, %t, %n, %i;
"""


def load_input(name, type_, pred=False):
    access = ACCESS[type_]
    reg = f"%{name}.in" if pred else f"%{name}"
    reg = reg.replace(".", "_")
    text = f".reg .{REGISTER[type_]} {reg};\n"
    text += address(name, runfile.SIZES[type_])
    text += f"ld.global.{access} {reg}, [%p];\n"
    if pred:
        text += f".reg .pred %{name};\nsetp.ne.u32 %{name}, {reg}, 0;\n"
    return text


def store_output(name, type_, index="%i"):
    text = address(name, runfile.SIZES[element_of_output(type_)], index)
    if type_ == "pred":
        return (f"selp.u32 %t, 1, 0, %{name};\n" + text
                + "st.global.u8 [%p], %t;\n")
    return text + f"st.global.{ACCESS[type_]} [%p], %{name};\n"


def element_of_output(type_):
    return "b8" if type_ == "pred" else type_


def lane(suite, form, ins, outs, body, sm=70, version="8.0", count=None,
         forms=None, stem=None, decls="", note="", block=64):
    """ins: pool names, 'pred' for a predicate. outs: (type, compare) pairs or
    types alone (compare 'exact', or 'nan' for floats). body: uses %a %b %c
    for inputs and %d %e %f ... for outputs."""
    count = count or (320 if len(ins) <= 1 else 512)
    pool_names = ["bool" if pool == "pred" else pool for pool in ins]
    sources = suite.column_sources(pool_names, count) if ins else []
    run = runfile.RunFile()
    run.forms = forms or [form]
    run.sm, run.notes = sm, [note] if note else []
    block = min(block, count)
    run.grid, run.block = [count // block, 1, 1], [block, 1, 1]
    text = PROLOGUE
    for name, pool, source in zip(INPUT_NAMES, pool_names, sources):
        type_ = type_of_pool(pool)
        is_pred = ins[INPUT_NAMES.index(name)] == "pred"
        text += load_input(name, type_, is_pred)
        run.params.append(runfile.Param("in", name, type_, count, source))
    outs = [out if isinstance(out, tuple) else (out, default_compare(out))
            for out in outs]
    tail = ""
    for name, (type_, compare) in zip(OUTPUT_NAMES, outs):
        reg = "pred" if type_ == "pred" else REGISTER[type_]
        text += f".reg .{reg} %{name};\n"
        tail += store_output(name, type_)
        run.params.append(runfile.Param("out", name, element_of_output(type_),
                                        count, "", compare))
    params = [f".u64 {param.name}" for param in run.params]
    run.ptx = module(params, text + body + "\n" + tail, sm, version, decls)
    suite.add(stem or form, run)


def default_compare(type_):
    return "nan" if type_ in FLOAT else "exact"


def free(suite, form, params, body, grid=(1, 1, 1), block=(32, 1, 1), sm=70,
         version="8.0", forms=None, stem=None, decls="", note="", shared=0,
         declared=None):
    """A kernel whose whole body is given. params: runfile.Param list; its
    declarations are .u64 for buffers unless `declared` gives them all."""
    run = runfile.RunFile()
    run.forms, run.notes = forms or [form], [note] if note else []
    run.sm, run.shared, run.params = sm, shared, params
    run.grid, run.block = list(grid), list(block)
    run.ptx = module(declared or [f".u64 {p.name}" for p in params], body, sm,
                     version, decls)
    suite.add(stem or form, run)


def buffer_in(suite, name, pool, count):
    """An input buffer that holds one pool's column."""
    source = suite.column_sources([pool], count)[0]
    return runfile.Param("in", name, type_of_pool(pool), count, source)


def buffer_inout(suite, name, pool, count, compare="exact"):
    source = suite.column_sources([pool], count)[0]
    return runfile.Param("inout", name, type_of_pool(pool), count, source,
                         compare)


def buffer_out(name, type_, count, compare="exact"):
    return runfile.Param("out", name, type_, count, "", compare)
