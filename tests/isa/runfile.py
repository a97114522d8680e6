"""Reads and writes run-files and input sets; README.md defines the format."""

import os

# Element type -> bytes of one element in memory.
SIZES = {
    "b8": 1, "b16": 2, "b32": 4, "b64": 8, "f16": 2, "bf16": 2,
    "f16x2": 4, "bf16x2": 4, "f32": 4, "f64": 8,
}
ROLES = ("in", "inout", "out")
POISON = 0xCD
HERE = os.path.dirname(os.path.abspath(__file__))
FORMS_DIR = os.path.join(HERE, "forms")
INPUTS_FILE = os.path.join(HERE, "inputs.txt")


class Param:
    """One kernel parameter: a buffer (in, inout, out) or a value (arg)."""

    def __init__(self, role, name, type_="b8", count=0, source="",
                 compare="exact", value=b""):
        self.role, self.name, self.type, self.count = role, name, type_, count
        self.source, self.compare, self.value = source, compare, value

    @property
    def is_buffer(self):
        return self.role != "arg"

    @property
    def is_output(self):
        return self.role in ("out", "inout")

    def header(self):
        if self.role == "arg":
            return f"arg {self.name} {self.value.hex()}"
        words = [self.role, self.name, self.type, str(self.count)]
        if self.role != "out":
            words.append(self.source)
        if self.role != "in":
            words.append(self.compare)
        return " ".join(words)


class RunFile:
    def __init__(self):
        self.forms, self.notes, self.params = [], [], []
        self.sm, self.grid, self.block, self.shared = 70, [1] * 3, [1] * 3, 0
        self.ptx, self.expect = "", {}

    def text(self):
        lines = ["hetgpu-isa 1"]
        lines += [f"form {form}" for form in self.forms]
        lines += [f"note {note}" for note in self.notes]
        lines.append(f"sm {self.sm}")
        lines.append("grid " + " ".join(map(str, self.grid)))
        lines.append("block " + " ".join(map(str, self.block)))
        if self.shared:
            lines.append(f"shared {self.shared}")
        lines += [param.header() for param in self.params]
        lines += ["ptx", self.ptx.rstrip("\n"), "end"]
        for name, values in self.expect.items():
            lines.append(f"expect {name}")
            lines += hex_lines(values)
            lines.append("end")
        return "\n".join(lines) + "\n"


def hex_lines(values):
    """Hex words without leading zeros; VALUE*N repeats; 80 columns."""
    words, i = [], 0
    while i < len(values):
        run = i
        while run < len(values) and values[run] == values[i]:
            run += 1
        words.append(f"{values[i]:x}" + (f"*{run - i}" if run - i > 1 else ""))
        i = run
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > 80:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    return lines + ([line] if line else [])


def parse_hex(lines):
    values = []
    for word in " ".join(lines).split():
        value, _, repeat = word.partition("*")
        values += [int(value, 16)] * int(repeat or "1")
    return values


def to_bytes(values, type_):
    size = SIZES[type_]
    return b"".join(v.to_bytes(size, "little") for v in values)


def from_bytes(data, type_):
    size = SIZES[type_]
    return [int.from_bytes(data[i:i + size], "little")
            for i in range(0, len(data), size)]


def _parse_param(words):
    role = words[0]
    if role == "arg":
        return Param("arg", words[1], value=bytes.fromhex(words[2]))
    rest = words[4:]
    source = "" if role == "out" else rest.pop(0)
    return Param(role, words[1], words[2], int(words[3]), source,
                 " ".join(rest) or "exact")


def _until_end(lines):
    body = []
    for line in lines:
        if line == "end":
            return body
        body.append(line)
    raise ValueError("missing 'end'")


def parse(text):
    lines = iter(text.splitlines())
    if next(lines, "") != "hetgpu-isa 1":
        raise ValueError("not a run-file: expected 'hetgpu-isa 1'")
    run = RunFile()
    for line in lines:
        words = line.split()
        if words[0] == "form":
            run.forms.append(words[1])
        elif words[0] == "note":
            run.notes.append(line[5:])
        elif words[0] in ("sm", "shared"):
            setattr(run, words[0], int(words[1]))
        elif words[0] in ("grid", "block"):
            setattr(run, words[0], [int(w) for w in words[1:4]])
        elif words[0] in ROLES or words[0] == "arg":
            run.params.append(_parse_param(words))
        elif words[0] == "ptx":
            run.ptx = "\n".join(_until_end(lines)) + "\n"
        elif words[0] == "expect":
            run.expect[words[1]] = parse_hex(_until_end(lines))
        else:
            raise ValueError(f"unknown key '{words[0]}'")
    return run


def read(path):
    with open(path, encoding="ascii") as file:
        return parse(file.read())


def write(path, run):
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write(run.text())


def read_inputs(path=INPUTS_FILE):
    """Set name -> (type, values)."""
    sets = {}
    with open(path, encoding="ascii") as file:
        lines = iter(file.read().splitlines())
    for line in lines:
        words = line.split()
        if words and words[0] == "set":
            sets[words[1]] = (words[2], parse_hex(_until_end(lines)))
    return sets


def write_inputs(sets, path=INPUTS_FILE):
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("# Named input sets; written by generate.py.\n")
        for name in sorted(sets):
            type_, values = sets[name]
            file.write(f"set {name} {type_} {len(values)}\n")
            file.write("\n".join(hex_lines(values)) + "\nend\n")


def initial_bytes(param, sets):
    """What a buffer holds before the launch."""
    size = param.count * SIZES[param.type]
    if param.role == "out":
        return bytes([POISON]) * size
    kind, _, name = param.source.partition(":")
    if kind == "zero":
        return bytes(size)
    if kind == "iota":
        mask = (1 << (8 * SIZES[param.type])) - 1
        return to_bytes([i & mask for i in range(param.count)], param.type)
    if kind == "set":
        type_, values = sets[name]
        if len(values) < param.count or SIZES[type_] != SIZES[param.type]:
            raise ValueError(f"set '{name}' does not fit '{param.name}'")
        return to_bytes(values[:param.count], param.type)
    raise ValueError(f"unknown source '{param.source}'")


def form_path(stem, folder=FORMS_DIR):
    """Files lie in one folder per opcode: add.s32 in add/."""
    opcode = stem.split(".")[0].split("+")[0]
    return os.path.join(folder, opcode, stem + ".isa")


def form_files(folder=FORMS_DIR):
    return sorted(os.path.join(parent, name)
                  for parent, _, names in os.walk(folder)
                  for name in names if name.endswith(".isa"))
