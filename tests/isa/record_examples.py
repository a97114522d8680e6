#!/usr/bin/env python3
"""Runs plan files on a real NVIDIA GPU and records their outputs.

Usage: record_examples.py --out DIR PLAN...

Implements docs/plan-format.md by itself on the CUDA driver API alone
(ctypes on libcuda.so.1; the standard library otherwise), so that what it
records owes nothing to this project's code. For every output with a "check"
that names a file, DIR receives a file of that name; other checks are tested
on the spot. What kernels print goes to DIR/NAME.txt.
"""

import argparse
import ctypes
import json
import os
import pathlib
import struct
import sys

MASK64 = (1 << 64) - 1

# Element type: struct code, npy descriptor.
TYPES = {
    "i8": ("b", "|i1"), "u8": ("B", "|u1"),
    "i16": ("h", "<i2"), "u16": ("H", "<u2"),
    "i32": ("i", "<i4"), "u32": ("I", "<u4"),
    "i64": ("q", "<i8"), "u64": ("Q", "<u8"),
    "f16": ("e", "<f2"), "f32": ("f", "<f4"), "f64": ("d", "<f8"),
    "ptr": ("Q", "<u8"),
}
FLOATS = ("f16", "f32", "f64")
NAN_BITS = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class PlanError(Exception):
    pass


def size_of(type_name):
    return struct.calcsize("<" + TYPES[type_name][0])


def encode(type_name, value, variables=None):
    """The bytes of one value of the plan."""
    size = size_of(type_name)
    if isinstance(value, dict):
        value = variables[value["var"]]
    if isinstance(value, str):
        if value.startswith("0x"):
            return int(value, 16).to_bytes(size, "little")
        if value == "nan":
            return NAN_BITS[type_name].to_bytes(size, "little")
        value = float(value)
    if type_name in FLOATS:
        value = float(value)
    return struct.pack("<" + TYPES[type_name][0], value)


def splitmix64(seed, index):
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    return z ^ (z >> 31)


def wrap(type_name, value):
    """The bytes of an integer modulo the width of its type."""
    size = size_of(type_name)
    return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def random_element(type_name, spec, index):
    z = splitmix64(spec.get("seed", 0), index)
    if type_name in FLOATS:
        low, high = float(spec.get("min", 0)), float(spec.get("max", 1))
        unit = float(z >> 11) * 2.0**-53
        return encode(type_name, low + unit * (high - low))
    bits = 8 * size_of(type_name)
    signed = type_name.startswith("i")
    low = spec.get("min", -(1 << (bits - 1)) if signed else 0)
    high = spec.get("max", (1 << (bits - signed)) - 1)
    span = (high - low + 1) & MASK64
    return wrap(type_name, z if span == 0 else low + ((z * span) >> 64))


def iota_element(type_name, spec, index):
    start, step = spec.get("start", 0), spec.get("step", 1)
    if type_name in FLOATS:
        return encode(type_name, float(start) + float(step) * float(index))
    return wrap(type_name, start + step * index)


def initial_bytes(spec, folder, address_of):
    """The content of a buffer or symbol."""
    type_name, count = spec["type"], spec["count"]
    init = spec.get("init", {"fill": 0})
    (kind, value), = init.items()
    if kind == "fill":
        return encode(type_name, value) * count
    if kind == "values":
        data = b"".join(encode(type_name, v) for v in value)
    elif kind == "rand":
        data = b"".join(random_element(type_name, value, i)
                        for i in range(count))
    elif kind == "iota":
        data = b"".join(iota_element(type_name, value, i)
                        for i in range(count))
    elif kind == "addresses":
        data = b"".join(struct.pack("<Q", address_of(a)) for a in value)
    elif kind == "file":
        data = read_data(folder / value)
    else:
        raise PlanError(f"unknown initialiser '{kind}'")
    if len(data) != count * size_of(type_name):
        raise PlanError(f"initialiser '{kind}' has {len(data)} bytes, "
                        f"expected {count * size_of(type_name)}")
    return data


def read_data(path):
    data = path.read_bytes()
    if path.suffix != ".npy":
        return data
    length, = struct.unpack_from("<H", data, 8)
    return data[10 + length:]


def write_npy(path, type_name, shape, data):
    dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = (f"{{'descr': '{TYPES[type_name][1]}', 'fortran_order': False, "
              f"'shape': ({dims}), }}")
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                     header.encode() + data)


class Driver:
    """The few calls of the CUDA driver API that plans need."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()

    def call(self, function, *args):
        status = getattr(self.lib, function)(*args)
        if status != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(status, ctypes.byref(text))
            raise PlanError(f"{function}: error {status}: "
                            f"{text.value.decode() if text.value else '?'}")

    def load(self, image):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module,
                  name.encode())
        return function

    def symbol(self, module, name):
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuModuleGetGlobal_v2", ctypes.byref(address),
                  ctypes.byref(size), module, name.encode())
        return address.value, size.value

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address),
                  ctypes.c_size_t(max(size, 1)))
        return address.value

    def write(self, address, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data,
                  ctypes.c_size_t(len(data)))

    def read(self, address, size):
        data = ctypes.create_string_buffer(max(size, 1))
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address),
                  ctypes.c_size_t(size))
        return data.raw[:size]

    def copy(self, target, source, size):
        self.call("cuMemcpyDtoD_v2", ctypes.c_uint64(target),
                  ctypes.c_uint64(source), ctypes.c_size_t(size))

    def launch(self, function, grid, block, shared, args):
        holders = [ctypes.create_string_buffer(a, len(a)) for a in args]
        pointers = (ctypes.c_void_p * max(len(args), 1))(
            *[ctypes.addressof(h) for h in holders])
        if shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED,
                      shared)
        self.call("cuLaunchKernel", function, *grid, *block, shared, None,
                  pointers, None)
        self.call("cuCtxSynchronize")


def dim3(value):
    values = value if isinstance(value, list) else [value]
    return [ctypes.c_uint(v) for v in values + [1] * (3 - len(values))]


class Runner:
    """One plan on the device."""

    def __init__(self, driver, path):
        self.driver = driver
        self.folder = path.parent
        self.plan = json.loads(path.read_text())
        image = (self.folder / self.plan["module"]).read_bytes() + b"\0"
        self.module = driver.load(image)
        self.buffers = {}  # name: [address, type, count]
        self.variables = {}
        specs = self.plan.get("buffers", {})
        for name, spec in specs.items():
            size = spec["count"] * size_of(spec["type"])
            self.buffers[name] = [driver.allocate(size), spec["type"],
                                  spec["count"]]
        for name, spec in specs.items():
            data = initial_bytes(spec, self.folder, self.address)
            driver.write(self.buffers[name][0], data)
        for name, spec in self.plan.get("symbols", {}).items():
            address, size = driver.symbol(self.module, name)
            data = initial_bytes(spec, self.folder, self.address)
            if len(data) > size:
                raise PlanError(f"symbol '{name}' has {size} bytes, got "
                                f"{len(data)}")
            driver.write(address, data)

    def address(self, spec):
        if spec.get("null"):
            return 0
        if "symbol" in spec:
            base = self.driver.symbol(self.module, spec["symbol"])[0]
        else:
            base = self.buffers[spec["buffer"]][0]
        return base + spec.get("offset", 0)

    def argument(self, spec):
        """Bytes and alignment of one argument or struct member."""
        if spec.keys() & {"buffer", "symbol", "null"}:
            return struct.pack("<Q", self.address(spec)), 8
        (kind, value), = spec.items()
        if kind == "bytes":
            return bytes.fromhex(value), 1
        if kind != "struct":
            data = encode(kind, value, self.variables)
            return data, len(data)
        data, largest = b"", 1
        for member in value:
            part, alignment = self.argument(member)
            data += b"\0" * (-len(data) % alignment) + part
            largest = max(largest, alignment)
        return data + b"\0" * (-len(data) % largest), largest

    def run(self, steps):
        for step in steps:
            if "launch" in step:
                self.launch(step)
            elif "repeat" in step:
                self.repeat(step)
            elif "for" in step:
                for value in step["in"]:
                    self.variables[step["for"]] = value
                    self.run(step["steps"])
            elif "swap" in step:
                a, b = step["swap"]
                self.buffers[a], self.buffers[b] = (self.buffers[b],
                                                    self.buffers[a])
            elif "copy" in step:
                self.copy(step["copy"])
            elif "fill" in step:
                address, type_name, count = self.buffers[
                    step["fill"]["buffer"]]
                value = encode(type_name, step["fill"]["value"],
                               self.variables)
                self.driver.write(address, value * count)
            else:
                raise PlanError(f"unknown step {step}")

    def launch(self, step):
        function = self.driver.function(self.module, step["launch"])
        args = [self.argument(a)[0] for a in step.get("args", [])]
        self.driver.launch(function, dim3(step["grid"]), dim3(step["block"]),
                           step.get("shared", 0), args)

    def repeat(self, step):
        for i in range(step["repeat"]):
            if "var" in step:
                self.variables[step["var"]] = i
            self.run(step["steps"])
            if "until" in step and self.reached(step["until"]):
                break

    def reached(self, until):
        address, type_name, _ = self.buffers[until["buffer"]]
        size = size_of(type_name)
        code = "<" + TYPES[type_name][0]
        got, = struct.unpack(code, self.driver.read(
            address + until.get("index", 0) * size, size))
        key = "equals" if "equals" in until else "less_than"
        want, = struct.unpack(code, encode(type_name, until[key]))
        return got == want if key == "equals" else got < want

    def copy(self, spec):
        source, type_name, count = self.buffers[spec["from"]]
        offset = spec.get("from_offset", 0)
        size = spec.get("size", count * size_of(type_name) - offset)
        target = self.buffers[spec["to"]][0] + spec.get("to_offset", 0)
        self.driver.copy(target, source + offset, size)

    def check_readonly(self):
        for name, spec in self.plan.get("buffers", {}).items():
            if not spec.get("readonly"):
                continue
            data = initial_bytes(spec, self.folder, self.address)
            if self.driver.read(self.buffers[name][0], len(data)) != data:
                raise PlanError(f"readonly buffer '{name}' was changed")

    def record(self, out):
        """Writes or checks the outputs; returns how many files it wrote."""
        written = 0
        for name, spec in self.plan.get("outputs", {}).items():
            if "buffer" in spec:
                address, type_name, count = self.buffers[spec["buffer"]]
            else:
                address = self.driver.symbol(self.module, spec["symbol"])[0]
                type_name, count = spec["type"], spec["count"]
            data = self.driver.read(address, count * size_of(type_name))
            check = dict(spec.get("check", {}))
            if "file" in check:
                write_npy(out / pathlib.Path(check["file"]).name, type_name,
                          spec.get("shape", [count]), data)
                written += 1
                continue
            init = {k: v for k, v in check.items()
                    if k not in ("atol", "rtol", "bits")}
            if init and data != initial_bytes(
                    {"type": type_name, "count": count, "init": init},
                    self.folder, self.address):
                raise PlanError(f"output '{name}' differs from its check")
        return written


def with_output_in(path, action):
    """Runs `action` with file descriptor 1 sent to `path`; the device's
    printf goes there. Removes the file when nothing was printed."""
    sys.stdout.flush()
    saved = os.dup(1)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        action()
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)
    if path.stat().st_size == 0:
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("plans", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    driver = Driver()
    print(f"device: {driver.name}")
    failures = 0
    for path in options.plans:
        name = path.name.split(".")[0]
        try:
            runner = Runner(driver, path)
            with_output_in(options.out / f"{name}.txt",
                           lambda: runner.run(runner.plan["steps"]))
            runner.check_readonly()
            print(f"{name}: {runner.record(options.out)} files", flush=True)
        except (PlanError, OSError, KeyError, ValueError) as error:
            failures += 1
            print(f"{name}: FAILED: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
