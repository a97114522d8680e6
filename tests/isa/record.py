#!/usr/bin/env python3
"""Runs run-files on an NVIDIA GPU and writes the bits it gives into them.

Uses the vendor's driver library alone (libcuda.so.1 through ctypes), so the
recording owes nothing to this project's own code.

  record.py                 record every file that has no expected bits
  record.py --all           record every file again
  record.py --check         run every recorded file again; report differences
  record.py ... FILE...     only these files

A worker process holds the GPU; when a run hangs or destroys the context, the
file is reported and a new worker goes on with the next one. RECORDED.md says
where the bits come from.
"""

import argparse
import ctypes
import datetime
import json
import os
import select
import subprocess
import sys

import runfile

TIMEOUT_S = 60
ARENA_BYTES = 8 << 20
ALIGN = 512


class CudaError(Exception):
    pass


class Driver:
    """The dozen driver calls a recording needs."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        arena = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(arena),
                  ctypes.c_size_t(ARENA_BYTES))
        self.arena = arena.value

    def call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(status, ctypes.byref(text))
            raise CudaError(f"{name}: {(text.value or b'?').decode()}")

    def describe(self):
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, self.device)
        version, major, minor = (ctypes.c_int() for _ in range(3))
        self.call("cuDriverGetVersion", ctypes.byref(version))
        for value, attribute in ((major, 75), (minor, 76)):
            self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute,
                      self.device)
        return {"device": name.value.decode(),
                "capability": f"{major.value}.{minor.value}",
                "driver_api": f"{version.value // 1000}."
                              f"{version.value % 1000 // 10}"}

    def load(self, ptx):
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # error log buffer and its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 8192)
        module = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module),
                      ptx.encode() + b"\0", 2, options, values)
        except CudaError as error:
            text = log.value.decode(errors="replace").strip()
            raise CudaError(f"{error}: {text}") from None
        return module

    def run(self, run, sets):
        """Launches the file's kernel once; returns name -> output values."""
        module = self.load(run.ptx)
        try:
            return self._launch(module, run, sets)
        finally:
            self.cuda.cuModuleUnload(module)

    def _launch(self, module, run, sets):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module,
                  b"isa")
        places, values, offset = {}, [], 0
        for param in run.params:
            if not param.is_buffer:
                values.append(ctypes.create_string_buffer(param.value,
                                                          len(param.value)))
                continue
            data = runfile.initial_bytes(param, sets)
            places[param.name] = self.arena + offset
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(places[param.name]),
                      data, ctypes.c_size_t(len(data)))
            values.append(ctypes.c_uint64(places[param.name]))
            offset += (len(data) + ALIGN - 1) // ALIGN * ALIGN
        pointers = (ctypes.c_void_p * len(values))(
            *[ctypes.addressof(value) for value in values])
        self.call("cuLaunchKernel", function, *run.grid, *run.block,
                  run.shared, None, pointers, None)
        self.call("cuCtxSynchronize")
        return {param.name: self._fetch(param, places[param.name])
                for param in run.params if param.is_output}

    def _fetch(self, param, place):
        size = param.count * runfile.SIZES[param.type]
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(place),
                  ctypes.c_size_t(size))
        return runfile.from_bytes(data.raw, param.type)


def differences(run, got):
    places = []
    for name, values in got.items():
        old = run.expect.get(name, [])
        if len(old) != len(values):
            places.append(f"{name}: {len(old)} values recorded")
            continue
        bad = [i for i, pair in enumerate(zip(old, values))
               if pair[0] != pair[1]]
        if bad:
            i = bad[0]
            places.append(f"{name}[{i}]: recorded {old[i]:x}, now "
                          f"{values[i]:x} ({len(bad)} differ)")
    return "; ".join(places)


def worker(check):
    """Answers one JSON line per path on standard input."""
    driver, sets = Driver(), runfile.read_inputs()
    print(json.dumps(driver.describe()), flush=True)
    for line in sys.stdin:
        path = line.strip()
        try:
            run = runfile.read(path)
            got = driver.run(run, sets)
            if check:
                problem = differences(run, got)
            else:
                problem, run.expect = "", got
                runfile.write(path, run)
        except (CudaError, ValueError, OSError) as error:
            problem = f"failed: {error}"
        print(json.dumps({"path": path, "problem": problem}), flush=True)


class Pool:
    """One worker, replaced when it dies, hangs or loses its context."""

    def __init__(self, check):
        self.arguments = [sys.executable, os.path.abspath(__file__),
                          "--worker"] + (["--check"] if check else [])
        self.process, self.about = None, {}

    def start(self):
        self.process = subprocess.Popen(
            self.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, bufsize=1)
        self.about = json.loads(self.answer() or "{}")
        if not self.about:
            raise SystemExit("no CUDA device answers")

    def answer(self):
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT_S)
        return self.process.stdout.readline() if ready else ""

    def run(self, path):
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(path + "\n")
            line = self.answer()
        except BrokenPipeError:
            line = ""
        if not line:
            self.stop()
            return f"no answer in {TIMEOUT_S} s, or the worker died"
        problem = json.loads(line)["problem"]
        if problem.startswith("failed"):
            self.stop()  # the context may be lost
        return problem

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None


def write_summary(about, total):
    path = os.path.join(runfile.HERE, "RECORDED.md")
    day = datetime.date.today().isoformat()
    with open(path, "w", encoding="ascii") as file:
        file.write(
            "# Where the expected bits come from\n\n"
            f"| device | {about['device']}, compute capability "
            f"{about['capability']} |\n|---|---|\n"
            f"| driver API | {about['driver_api']} |\n"
            f"| run-files with recorded bits | {total} |\n"
            f"| last recorded | {day} |\n\n"
            "Recorded by `record.py` through the CUDA driver API alone, "
            "PTX compiled by the\ndriver; `record.py --check` runs all of "
            "them again and reports every bit that\ndiffers.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.worker:
        worker(args.check)
        return 0
    paths = args.files or runfile.form_files()
    if args.check:
        paths = [path for path in paths if runfile.read(path).expect]
    elif not args.all:
        paths = [path for path in paths if not runfile.read(path).expect]
    pool, bad = Pool(args.check), 0
    for path in paths:
        problem = pool.run(path)
        if problem:
            bad += 1
            print(f"{os.path.basename(path)}: {problem}", flush=True)
    if not args.check and pool.about:
        total = sum(bool(runfile.read(p).expect)
                    for p in runfile.form_files())
        write_summary(pool.about, total)
    pool.stop()
    print(f"{len(paths) - bad} of {len(paths)} "
          f"{'the same' if args.check else 'recorded'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
