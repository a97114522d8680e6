#!/usr/bin/env python3
"""Runs random programs through libhetgpu in several configurations and
reports every program whose results differ.

  differential.py --library build/release/lib/libhetgpu.so
      [--first 1000] [--count 200]
      [--configurations 'HETGPU_CPU_MODE=auto HETGPU_CPU_MODE=fiber']

A configuration is environment variables joined by commas. The programs are
those of generator/programs.py; numbers from 96 on are not recorded. --wild
adds switches, calls, gathers, local arrays, 16-bit types and atomics.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys

import runfile
from generator import kernel, programs


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32),
                ("z", ctypes.c_uint32)]


class Library:
    def __init__(self, path, device):
        self.api = ctypes.CDLL(path)
        self.api.hetgpuGetLastErrorDetail.restype = ctypes.c_char_p
        self.api.hetgpuLaunchKernel.argtypes = [
            ctypes.c_void_p, Dim3, Dim3, ctypes.c_uint32, ctypes.c_void_p,
            ctypes.c_void_p]
        self.context, handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("DeviceGetByName", device.encode(), ctypes.byref(handle))
        self.call("ContextCreate", handle, 0, ctypes.byref(self.context))

    def call(self, name, *args):
        if getattr(self.api, "hetgpu" + name)(*args):
            detail = self.api.hetgpuGetLastErrorDetail().decode()
            raise RuntimeError(f"{name}: {detail}")

    def run(self, run, sets):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        text = run.ptx.encode()
        self.call("ModuleLoadData", self.context, text,
                  ctypes.c_size_t(len(text)), b"program",
                  ctypes.byref(module))
        self.call("ModuleGetFunction", module, b"isa", ctypes.byref(function))
        values = [self.upload(param, sets) for param in run.params]
        pointers = (ctypes.c_void_p * len(values))(
            *[ctypes.addressof(value) for value in values])
        self.call("LaunchKernel", function, Dim3(*run.grid),
                  Dim3(*run.block), run.shared, None, pointers)
        self.call("ContextSynchronize", self.context)
        results = {param.name: self.download(param, value)
                   for param, value in zip(run.params, values)
                   if param.is_output}
        for value in values:
            self.call("MemFree", self.context, value)
        self.call("ModuleUnload", module)
        return results

    def upload(self, param, sets):
        data = runfile.initial_bytes(param, sets)
        address, size = ctypes.c_uint64(), ctypes.c_uint64(len(data))
        self.call("MemAlloc", self.context, size, ctypes.byref(address))
        self.call("MemCopyHtoD", self.context, address, data, size)
        return address

    def download(self, param, address):
        size = param.count * runfile.SIZES[param.type]
        data = ctypes.create_string_buffer(size)
        self.call("MemCopyDtoH", self.context, data, address,
                  ctypes.c_uint64(size))
        return data.raw.hex()


def worker(args):
    """Prints one JSON line per program."""
    library = Library(args.library, args.device)
    for number in range(args.first, args.first + args.count):
        suite = kernel.Suite()
        programs.add_program(suite, number, wild=args.wild)
        run, = suite.files.values()
        try:
            result = library.run(run, suite.sets)
        except RuntimeError as error:
            result = {"error": str(error)}
        print(json.dumps([number, result]), flush=True)


def results_of(configuration, args):
    settings = dict(word.split("=", 1) for word in configuration.split(","))
    command = [sys.executable, os.path.abspath(__file__), "--worker",
               "--library", args.library, "--device", args.device,
               "--first", str(args.first), "--count", str(args.count)]
    command += ["--wild"] if args.wild else []
    done = subprocess.run(command, env=dict(os.environ, **settings),
                          stdout=subprocess.PIPE, text=True, check=False)
    results = dict(json.loads(line) for line in done.stdout.splitlines())
    if done.returncode:
        print(f"{configuration}: ended after {len(results)} programs, "
              f"status {done.returncode}")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--configurations", default="HETGPU_CPU_MODE=auto "
                        "HETGPU_CPU_MODE=fiber")
    parser.add_argument("--wild", action="store_true")
    parser.add_argument("--worker", action="store_true")
    args = parser.parse_args()
    if args.worker:
        worker(args)
        return 0
    configurations = args.configurations.split()
    all_results = [results_of(c, args) for c in configurations]
    different = 0
    for number in range(args.first, args.first + args.count):
        seen = [results.get(number) for results in all_results]
        if any(result is None or "error" in result or result != seen[0]
               for result in seen):
            different += 1
            print(f"program {number}: {summary(configurations, seen)}")
    print(f"{args.count - different} of {args.count} programs agree")
    return 1 if different else 0


def summary(configurations, seen):
    words = []
    for configuration, result in zip(configurations, seen):
        text = "no result" if result is None else result.get(
            "error", f"{hash(json.dumps(result)) & 0xFFFFFFFF:08x}")
        words.append(f"{configuration} gives {text}")
    return "; ".join(words)


if __name__ == "__main__":
    sys.exit(main())
