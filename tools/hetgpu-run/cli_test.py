#!/usr/bin/env python3
"""Runs the real hetgpu-run and hetgpu and looks at what a user would see.

usage: cli_test.py BIN_FOLDER SOURCE_FOLDER [unittest arguments]

Every failure must be one line on stderr that begins with the tool's name, with
a documented exit code; death by a signal is never right.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BIN = SOURCE = ""
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 130}
TYPES = {"<f4": "f", "<i4": "i", "<u4": "I", "<f8": "d"}


def write_npy(path, descr, values, extra="", order="False"):
    data = struct.pack("<%d%s" % (len(values), TYPES[descr]), *values)
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': (%d,), }" % (
        descr, order, len(values))
    head = head.encode() + b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        f.write(data + extra.encode())


def read_npy(path):
    with open(path, "rb") as f:
        file = f.read()
    (length,) = struct.unpack("<H", file[8:10])
    head = file[10:10 + length].decode()
    descr = re.search(r"'descr': '([^']*)'", head).group(1)
    return list(struct.unpack(
        "<%d%s" % ((len(file) - 10 - length) // struct.calcsize(TYPES[descr]),
                   TYPES[descr]), file[10 + length:]))


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = os.path.join(self.folder.name, name)
        if content is not None:
            mode = "wb" if isinstance(content, bytes) else "w"
            with open(path, mode) as f:
                f.write(content)
        return path

    def run_tool(self, *args, tool="hetgpu-run", env=None):
        return subprocess.run(
            [os.path.join(BIN, tool), *args], capture_output=True,
            timeout=120, cwd=self.folder.name,
            env={**os.environ, "HETGPU_JIT_CACHE_DIR": CACHE, **(env or {})})

    def ok(self, *args, **kwargs):
        result = self.run_tool(*args, **kwargs)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def fails(self, code, *args, contains="", tool="hetgpu-run", **kwargs):
        result = self.run_tool(*args, tool=tool, **kwargs)
        text = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, code, (args, text))
        self.assertIn(result.returncode, DOCUMENTED)
        self.assertRegex(text, r"\A%s: error: [^\n]+\n\Z" % tool)
        self.assertIn(contains, text)
        return text

    def axpy(self, *more, n="1000", block="256", grid="4"):
        return [PTX, "--kernel", "axpy", "--grid", grid, "--block", block,
                "--arg", "u32:" + n, "--arg", "f32:2.5",
                "--arg", "x=in:f32[1000]=iota",
                "--arg", "y=inout:f32[1000]=fill(1)", *more]


class InformationTest(CliTest):
    def test_help(self):
        text = self.ok("--help")
        for word in ("--kernel", "--arg", "SPEC", "Exit codes", "rand("):
            self.assertIn(word, text)

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^hetgpu-run \d+\.\d+\.\d+\n$")
        self.assertRegex(self.ok("--version", tool="hetgpu"),
                         r"^hetgpu \d+\.\d+\.\d+\n$")

    def test_man_page_covers_options_and_exit_codes(self):
        with open(os.path.join(SOURCE, "docs/man/hetgpu-run.1")) as f:
            man = f.read()
        text = self.ok("--help")
        for option in set(re.findall(r"^  --([a-z-]+)", text, re.M)):
            self.assertIn("Fl -" + option, man)
        for code in re.findall(r"^ +(\d+)  ", text, re.M):
            self.assertIn(".It " + code + "\n", man)

    def test_completion(self):
        for tool in ("hetgpu-run", "hetgpu"):
            for shell in ("bash", "zsh", "fish"):
                script = self.ok("--completion", shell, tool=tool)
                self.assertIn("version", script)
            script = self.ok("--completion", "bash", tool=tool)
            check = subprocess.run(["bash", "-n"], input=script.encode(),
                                   capture_output=True)
            self.assertEqual(check.returncode, 0, check.stderr)

    def test_list(self):
        text = self.ok(PTX)
        for word in ("kernel axpy", "kernel spin", "by_value", "table4",
                     "must be 64,1,1"):
            self.assertIn(word, text)

    def test_list_json(self):
        listing = json.loads(self.ok(PTX, "--json"))
        kernels = {k["name"]: k for k in listing["kernels"]}
        params = kernels["axpy"]["params"]
        self.assertEqual([p["size"] for p in params], [4, 4, 8, 8])
        self.assertEqual([p["offset"] for p in params], [0, 4, 8, 16])
        self.assertEqual(kernels["limited"]["static_shared_bytes"], 256)
        self.assertEqual(kernels["limited"]["required_block"], [64, 1, 1])
        sizes = {g["name"]: g["size"] for g in listing["globals"]}
        self.assertEqual(sizes, {"table4": 16, "where": 16})

    def test_trace_and_profile(self):
        trace = self.path("trace.json")
        self.ok(*self.axpy(), env={"HETGPU_TRACE": trace})
        with open(trace) as f:
            spans = [e for e in json.load(f) if e["ph"] == "X"]
        self.assertIn(("launch", "axpy"),
                      [(e["cat"], e["name"]) for e in spans])
        for args in ([trace], ["--", os.path.join(BIN, "hetgpu-run"),
                               *self.axpy()]):
            text = self.ok("profile", "--json", *args, tool="hetgpu")
            profile = json.loads(text[text.index("{\n"):])
            self.assertTrue(profile["complete"])
            device = profile["processes"][1]
            self.assertEqual(device["name"], "cpu:0")
            rows = {r["name"]: r for r in device["activities"]}
            self.assertEqual(rows["axpy"]["count"], 1)
            self.assertEqual(rows["copy to device"]["bytes"], 8000)
        self.assertRegex(self.ok("profile", trace, tool="hetgpu"),
                         r"launch +axpy +1 ")

    def test_profile_refuses_what_is_no_trace(self):
        bad = self.path("bad.json", '[\n{"ph":"X"},\nnonsense\n]\n')
        self.fails(3, "profile", bad, tool="hetgpu", contains="line 3")
        self.fails(3, "profile", self.path("empty", ""), tool="hetgpu",
                   contains="no events")
        self.fails(3, "profile", "nowhere.json", tool="hetgpu",
                   contains="nowhere.json")
        self.fails(3, "profile", "--", "true", tool="hetgpu",
                   contains="did not use libhetgpu")
        self.fails(2, "profile", tool="hetgpu", contains="expected a trace")
        self.fails(2, *self.axpy(), env={"HETGPU_TRACE": "/nowhere/t"},
                   contains="HETGPU_TRACE")
        full = self.run_tool(*self.axpy(), env={"HETGPU_TRACE": "/dev/full"})
        self.assertIn("HETGPU_TRACE: cannot write /dev/full: No space left",
                      full.stderr.decode())
        self.fails(2, *self.axpy(), env={"HETGPU_ISOLATE": "cuda,x"},
                   contains='HETGPU_ISOLATE names "x"')
        cut = self.path("cut.json", '[\n{"ph":"X","cat":"copy","name":"c",'
                        '"pid":1,"tid":1,"ts":1,"dur":2},\n{"ph":"X","ca')
        text = self.ok("profile", cut, tool="hetgpu")
        self.assertIn("incomplete", text)

    def test_info(self):
        text = self.ok("info", tool="hetgpu")
        self.assertIn("cpu", text)
        info = json.loads(self.ok("info", "--json", tool="hetgpu"))
        cpu = [b for b in info["backends"] if b["name"] == "cpu"][0]
        self.assertTrue(cpu["available"])
        self.assertEqual(cpu["devices"][0]["warp_size"], 32)
        self.assertEqual(info["cache"]["directory"], CACHE)

    def test_hetgpu_usage(self):
        self.fails(2, tool="hetgpu")
        self.fails(2, "nonsense", tool="hetgpu", contains="nonsense")
        self.fails(2, "info", "--nonsense", tool="hetgpu")


class RunTest(CliTest):
    def test_axpy_prints_and_saves(self):
        text = self.ok(*self.axpy("--print", "y:3", "--save", "y=y.npy"))
        self.assertIn("y: f32[1000] = 1 3.5 6", text)
        self.assertEqual(read_npy(self.path("y.npy")),
                         [1 + 2.5 * i for i in range(1000)])

    def test_results_are_shown_unless_asked_for(self):
        self.assertIn("y: f32[1000] = 1 3.5 6", self.ok(*self.axpy()))

    def test_npy_and_raw_files(self):
        write_npy(self.path("x.npy"), "<f4", [1, 2, 3])
        self.path("y.bin", struct.pack("<3f", 10, 20, 30))
        self.ok(PTX, "--kernel", "axpy", "--grid", "1", "--block", "32",
                "--arg", "u32:3", "--arg", "f32:1", "--arg", "in:x.npy",
                "--arg", "inout:f32=y.bin", "--save", "arg3=z.bin")
        with open(self.path("z.bin"), "rb") as f:
            self.assertEqual(struct.unpack("<3f", f.read()), (11, 22, 33))

    def test_out_file(self):
        self.ok(PTX, "--kernel", "limited", "--grid", "1", "--block", "64",
                "--arg", "out:u32[1]=o.npy")
        self.assertEqual(read_npy(self.path("o.npy")), [64])

    def test_checks(self):
        write_npy(self.path("ref.npy"), "<f4",
                  [1 + 2.5 * i for i in range(1000)])
        self.assertIn("passed", self.ok(*self.axpy("--check", "y=ref.npy")))
        self.ok(*self.axpy("--check", "y=iota(start=1,step=2.5)"))
        self.ok(*self.axpy("--check", "y=fill(0)", "--atol", "1e4"))
        text = self.fails(1, *self.axpy("--check", "y=fill(1)"))
        self.assertIn("999 of 1000", text)
        self.assertIn("[1]: got 3.5, expected 1", text)

    def test_addresses_of_other_buffers(self):
        text = self.ok(PTX, "--kernel", "gather2", "--grid", "1", "--block",
                       "1", "--buffer", "a=u32[4]=iota", "--buffer",
                       "b=u32[4]=fill(40)", "--arg", "in:addr[a+8,b+4]",
                       "--arg", "o=out:u32[1]")
        self.assertIn("o: u32[1] = 42", text)

    def test_pointer_to_named_buffer(self):
        text = self.ok(PTX, "--kernel", "axpy", "--grid", "1", "--block", "2",
                       "--buffer", "m=f32[4]=iota", "--arg", "u32:2", "--arg",
                       "f32:10", "--arg", "ptr:m", "--arg", "ptr:m+8",
                       "--print", "m:4")
        self.assertIn("m: f32[4] = 0 1 2 13", text)

    def test_structs(self):
        for spec in ("struct(u32:2,f64:0.5,ptr:o)",):
            text = self.ok(PTX, "--kernel", "by_value", "--grid", "1",
                           "--block", "1", "--buffer", "o=f64[1]", "--arg",
                           spec, "--print", "o")
            self.assertIn("o: f64[1] = 2.5", text)

    def test_symbols(self):
        text = self.ok(PTX, "--kernel", "read_symbol", "--grid", "1",
                       "--block", "4", "--symbol", "table4=u32[3]=iota(start=5)",
                       "--arg", "o=out:u32[4]")
        self.assertIn("o: u32[4] = 5 6 7 0", text)

    def test_time(self):
        result = json.loads(self.ok(*self.axpy(
            "--time", "3", "--bytes", "12000", "--flops", "2000", "--json")))
        self.assertEqual(len(result["time"]["runs_ms"]), 3)
        self.assertGreater(result["time"]["gb_per_s"], 0)
        self.assertGreater(result["time"]["gflop_per_s"], 0)
        self.assertRegex(self.ok(*self.axpy("--time=2")), r"median .* ms of 2")

    def test_json(self):
        result = json.loads(self.ok(*self.axpy(
            "--json", "--print", "y:2", "--check", "y=fill(0)", "--atol",
            "1e9")))
        self.assertTrue(result["ok"])
        output = result["outputs"][0]
        self.assertEqual(output["values"], ["1", "3.5"])
        self.assertTrue(output["check"]["passed"])

    def test_json_tells_errors(self):
        result = self.run_tool(*self.axpy("--json", "--check", "y=fill(1)"))
        self.assertEqual(result.returncode, 1)
        told = json.loads(result.stdout)
        self.assertFalse(told["ok"])
        self.assertEqual(told["exit_code"], 1)
        self.assertEqual(told["outputs"][0]["check"]["mismatches"], 999)

    def test_debug_kernel(self):
        cache = self.path("cache")
        env = {"HETGPU_JIT_CACHE_DIR": cache}
        first = self.run_tool(*self.axpy("--debug-kernel"), env=env)
        self.assertIn(b"kernel axpy: ", first.stderr)
        self.assertIn(b"compiled", first.stderr)
        self.assertRegex(first.stderr, rb"image of [1-9]\d* bytes")
        second = self.run_tool(*self.axpy("--debug-kernel"), env=env)
        self.assertIn(b"disk cache hit", second.stderr)

    def test_cpu_modes_agree(self):
        for mode in ("auto", "scalar", "fiber"):
            self.ok(*self.axpy("--cpu-mode", mode, "--check",
                               "y=iota(start=1,step=2.5)"))

    def test_memcheck(self):
        self.ok(*self.axpy("--memcheck", "--check",
                           "y=iota(start=1,step=2.5)"))
        # One element too many lies within what the allocation is rounded to.
        self.ok(*self.axpy(n="1001"))
        text = self.fails(4, *self.axpy("--memcheck", n="1001"))
        for part in ("axpy: illegal address 0x", "block (3,0,0)",
                     "thread (232,0,0)", "PTX line ",
                     "4 bytes, 0 bytes past the end of the 4000-byte "
                     "allocation at 0x"):
            self.assertIn(part, text)
        self.fails(4, *self.axpy(n="1001"), contains="4000-byte",
                   env={"HETGPU_CPU_MEMCHECK": "1"})
        self.fails(4, *self.axpy("--memcheck", "--cpu-mode", "simd"),
                   contains="thread by thread")


class PlanTest(CliTest):
    def plan(self, **parts):
        base = {"module": PTX, "steps": []}
        return self.path("p.plan.json", json.dumps({**base, **parts}))

    COUNTER = {"c": {"type": "u32", "count": 1}}

    def count(self, step):
        return {"launch": "count", "grid": 1, "block": 1,
                "args": [{"buffer": "c"}, {"u32": step}]}

    def output(self, **parts):
        return {"c": {"buffer": "c", "print": 1, **parts}}

    def test_loops_and_variables(self):
        plan = self.plan(
            buffers=self.COUNTER, outputs=self.output(),
            steps=[{"repeat": 5, "var": "i",
                    "steps": [self.count({"var": "i"})]},
                   {"for": "k", "in": [100, 200],
                    "steps": [self.count({"var": "k"})]}])
        self.assertIn("c: u32[1] = 310", self.ok(plan))
        self.assertIn("c: u32[1] = 310", self.ok("--plan", plan))

    def test_until(self):
        plan = self.plan(
            buffers=self.COUNTER, outputs=self.output(),
            steps=[{"repeat": 1000, "until": {"buffer": "c", "equals": 7},
                    "steps": [self.count(1)]}])
        self.assertIn("c: u32[1] = 7", self.ok(plan))

    def test_swap_copy_fill(self):
        two = {"type": "u32", "count": 4, "init": {"iota": {}}}
        plan = self.plan(
            buffers={"a": two, "b": {"type": "u32", "count": 4}},
            steps=[{"swap": ["a", "b"]},
                   {"copy": {"from": "b", "to": "a", "from_offset": 4,
                             "size": 8}},
                   {"fill": {"buffer": "b", "value": 9}}],
            outputs={"a": {"buffer": "a", "print": 4},
                     "b": {"buffer": "b", "print": 4}})
        text = self.ok(plan)
        self.assertIn("a: u32[4] = 1 2 0 0", text)
        self.assertIn("b: u32[4] = 9 9 9 9", text)

    def test_time_starts_anew(self):
        plan = self.plan(buffers=self.COUNTER, outputs=self.output(),
                         steps=[{"swap": ["c", "c"]}, self.count(3)])
        self.assertIn("c: u32[1] = 3", self.ok(plan, "--time", "4"))

    def test_files_and_checks(self):
        write_npy(self.path("ref.npy"), "<u4", [3])
        plan = self.plan(buffers=self.COUNTER, steps=[self.count(3)],
                         outputs=self.output(file="out.npy",
                                             check={"file": "ref.npy"}))
        self.ok(plan)
        self.assertEqual(read_npy(self.path("out.npy")), [3])
        plan = self.plan(buffers=self.COUNTER, steps=[self.count(4)],
                         outputs=self.output(check={"values": [3]}))
        self.fails(1, plan, contains="got 4, expected 3")

    def test_readonly(self):
        plan = self.plan(
            buffers={"c": {"type": "u32", "count": 1, "readonly": True}},
            steps=[self.count(1)])
        self.fails(1, plan, contains="readonly buffer 'c' was changed")

    def test_symbol_output_and_picture(self):
        plan = self.plan(
            symbols={"table4": {"type": "u32", "count": 4,
                                "init": {"values": [0, 1, 2, 3]}}},
            outputs={"p": {"symbol": "table4", "type": "u32", "count": 4,
                           "picture": {"width": 2, "height": 2, "max": 4,
                                       "ramp": "abcd"}}})
        self.assertEqual(self.ok(plan), "ab\ncd\n")

    def test_bad_plans(self):
        def bad(contains, **parts):
            self.fails(3, self.plan(**parts), contains=contains)
        bad("$.steps[0]", steps=[{"launch": "axpy"}])
        bad("nowhere",
            steps=[{"launch": "nowhere", "grid": 1, "block": 1}])
        bad("no buffer is called 'c'", steps=[self.count(1)])
        bad("no loop here has the variable 'i'", buffers=self.COUNTER,
            steps=[self.count({"var": "i"})])
        bad("values", buffers={"a": {"type": "u8", "count": 2,
                                     "init": {"values": [1]}}})
        bad("out of range", buffers={"a": {"type": "u8", "count": 2,
                                           "init": {"fill": 256}}})
        bad("differ in type or count", steps=[{"swap": ["a", "b"]}],
            buffers={"a": {"type": "u8", "count": 2},
                     "b": {"type": "u8", "count": 3}})
        bad("copy of 2 bytes", steps=[{"copy": {"from": "a", "to": "b"}}],
            buffers={"a": {"type": "u8", "count": 2},
                     "b": {"type": "u8", "count": 1}})
        bad("shape has 6", buffers=self.COUNTER,
            outputs=self.output(shape=[2, 3]))
        bad("symbol 'table4' has 16 bytes",
            symbols={"table4": {"type": "u32", "count": 5,
                                "init": {"fill": 1}}})
        bad("cannot open", module="missing.ptx")
        bad("cannot open", buffers={"a": {"type": "u8", "count": 2,
                                          "init": {"file": "none"}}})

    def test_not_json(self):
        for text in ("", "{", "[]", "null", '{"module": 1}', "\xff\xfe",
                     "[" * 100000, '{"module": "m", "module": "n"}'):
            self.fails(3, self.path("p.json", text), contains="p.json")

    def test_arguments_do_not_go_with_plans(self):
        self.fails(2, self.plan(), "--kernel", "axpy")


class OtherToolsTest(CliTest):
    def test_compiler_usage(self):
        self.assertIn("--emit", self.ok("--help", tool="hetgpu-cc"))
        for args in (("--emit=foo", PTX), ("--nonsense",), ()):
            self.fails(2, *args, tool="hetgpu-cc")
        self.fails(3, "missing.ptx", tool="hetgpu-cc", contains="missing.ptx")

    def test_support_page_usage(self):
        self.assertIn("Usage", self.ok("--help", tool="hetgpu-ptx-support"))
        self.fails(2, "--nonsense", tool="hetgpu-ptx-support")


class BadInputTest(CliTest):
    def test_usage(self):
        self.fails(2)
        self.fails(2, "--nonsense", PTX)
        self.fails(2, PTX, "--grid", "1", contains="--kernel")
        self.fails(2, PTX, "--kernel", "axpy", contains="--grid")
        self.fails(2, *self.axpy(grid="x"))
        self.fails(2, *self.axpy(grid="1,2,3,4"))
        self.fails(2, *self.axpy("--arg", "u32:x"))
        self.fails(2, *self.axpy("--arg", "u32:4294967296"))
        self.fails(2, *self.axpy("--print", "nobody"))
        self.fails(2, *self.axpy("--check", "nobody=fill(1)"))
        self.fails(2, *self.axpy("--time", "0"))
        for number in ("-1", "nan", "inf", "1e999", "x", ""):
            self.fails(2, *self.axpy("--atol", number))
        for time_limit in ("-5", "1.5", "x", "1K", "99999999999999999999"):
            self.fails(2, *self.axpy("--timeout", time_limit))
        self.fails(2, *self.axpy("--cpu-mode", "magic"))
        self.fails(2, *self.axpy("--arg", "y=in:u32[1]"), contains="'y'")
        self.fails(2, PTX, env={"HETGPU_CPU_MODE": "magic"})

    def test_wrong_variables_are_named(self):
        for name in ("HETGPU_FP_MODE", "HETGPU_CPU_MODE",
                     "HETGPU_JIT_CACHE_SIZE", "HETGPU_CPU_THREADS",
                     "HETGPU_CPU_MEMORY", "HETGPU_CPU_HEAP",
                     "HETGPU_CPU_STACK_SIZE", "HETGPU_CPU_MEMCHECK",
                     "HETGPU_CPU_TARGET"):
            for args in ((PTX,), (PTX, "--device", "cpu"), self.axpy()):
                self.fails(2, *args, env={name: "-7x"}, contains=name)
            self.fails(2, "info", tool="hetgpu", env={name: "-7x"},
                       contains=name)
        self.fails(6, PTX, "--device", "cuda", contains="/no/libcuda.so",
                   env={"HETGPU_CUDA_LIBRARY": "/no/libcuda.so"})
        self.fails(6, *self.axpy(), contains="HETGPU_COMPILER_LIBRARY",
                   env={"HETGPU_COMPILER_LIBRARY": "/no/compiler.so",
                        "HETGPU_JIT_CACHE_SIZE": "0"})

    def test_unreadable_files(self):
        self.fails(3, "missing.ptx", contains="missing.ptx")
        self.fails(3, self.folder.name, contains="directory")
        self.fails(3, self.path("empty.ptx", ""))
        if os.geteuid() != 0:
            path = self.path("secret.ptx", "x")
            os.chmod(path, 0)
            self.fails(3, path, contains="ermission")

    def test_binary_garbage(self):
        self.fails(3, self.path("g.ptx", bytes(range(256)) * 16))
        self.fails(3, self.path("z.ptx", bytes(1000)))
        self.fails(3, self.path("elf.ptx", b"\x7fELF" + bytes(100)))

    def test_truncated_ptx(self):
        with open(PTX, "rb") as f:
            text = f.read()
        for size in range(1, len(text), max(1, len(text) // 40)):
            result = self.run_tool(self.path("t.ptx", text[:size]))
            self.assertIn(result.returncode, (0, 3), size)
            if result.returncode == 3:
                self.assertEqual(result.stderr.count(b"\n"), 1, size)

    def ptx_with(self, old, new):
        with open(PTX) as f:
            text = f.read()
        self.assertIn(old, text)
        return self.path("v.ptx", text.replace(old, new, 1))

    def test_unterminated_comment(self):
        with open(PTX) as f:
            text = f.read()
        lines = text.count("\n")
        self.fails(3, self.path("c.ptx", text + "/* open\n\n"),
                   contains=":%d:1: " % (lines + 1))
        self.ok(self.path("d.ptx", text + "/* closed */ // and a line"))

    def test_headers(self):
        self.fails(3, self.ptx_with(".address_size 64", ".address_size 32"),
                   contains="address_size")
        self.fails(3, self.ptx_with(".version 7.0", ".version 99.0"),
                   contains="99.0")
        self.fails(3, self.ptx_with(".version 7.0", ".version x"))
        self.fails(3, self.ptx_with(".version 7.0", ""))

    def test_refused_kernel_leaves_the_others(self):
        path = self.ptx_with("trap;", "frobnicate.u32;")
        listing = self.run_tool(path, "--json")
        if listing.returncode == 0:
            kernels = {k["name"]: k
                       for k in json.loads(listing.stdout)["kernels"]}
            self.assertIn("frobnicate", kernels["crash"]["refusal"])
            self.assertNotIn("refusal", kernels["axpy"])
            self.fails(4, path, "--kernel", "crash", "--grid", "1", "--block",
                       "1", contains="frobnicate")
        else:
            self.fails(3, path, contains="frobnicate")

    def test_missing_kernel(self):
        self.fails(3, PTX, "--kernel", "nobody", "--grid", "1", "--block", "1",
                   contains="nobody")

    def test_missing_kernel_of_many(self):
        kernels = "".join(".visible .entry k%d() { ret; }\n" % i
                          for i in range(20000))
        path = self.path("many.ptx", ".version 7.0\n.target sm_70\n"
                         ".address_size 64\n" + kernels)
        text = self.fails(3, path, "--kernel", "nobody", "--grid", "1",
                          "--block", "1", contains="more")
        self.assertLess(len(text), 1000)

    def test_long_quotations_are_cut(self):
        path = self.path("long.ptx", ".version 7.0\n.target sm_70\n"
                         ".address_size 64\n.visible .entry k() { %s; }\n"
                         % ("q" * 1000000))
        text = self.fails(4, path, "--kernel", "k", "--grid", "1", "--block",
                          "1", contains="unknown instruction")
        self.assertLess(len(text), 3000)
        self.assertLess(len(self.fails(2, *self.axpy(
            "--arg", "struct:" + "{" * 100000))), 3000)
        self.assertLess(len(self.fails(3, self.path(
            "n.json", '{"x": %s}' % ("9" * 1000000)))), 3000)

    def test_local_memory_beyond_all_bounds(self):
        path = self.path("local.ptx", """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {
.local .b8 room[2000000000];
.reg .u64 %a;
mov.u64 %a, room;
st.local.u64 [%a], %a;
ret;
}
""")
        launch = (path, "--kernel", "k", "--grid", "1", "--block", "1",
                  "--arg", "null", "--cpu-mode")
        self.fails(4, *launch, "simd")
        for mode in ("auto", "scalar", "fiber"):
            result = self.run_tool(*launch, mode)
            self.assertIn(result.returncode, (0, 4), result.stderr)
            self.assertLess(result.stderr.count(b"\n"), 2)

    def test_wrong_arguments(self):
        self.fails(4, PTX, "--kernel", "axpy", "--grid", "1", "--block", "1",
                   contains="4 parameters")
        self.fails(4, *self.axpy("--arg", "u32:1"), contains="5 arguments")
        self.fails(4, PTX, "--kernel", "count", "--grid", "1", "--block", "1",
                   "--arg", "u32:1", "--arg", "u32:1",
                   contains="parameter 'counter' has 8")
        self.fails(4, PTX, "--kernel", "by_value", "--grid", "1", "--block",
                   "1", "--arg", "hex:00", contains="has 24")

    def test_bad_shapes(self):
        for shape in ("0", "1,0", "1,1,0"):
            self.fails(4, *self.axpy(grid=shape))
            self.fails(4, *self.axpy(block=shape))
        for block in ("1025", "32,33", "1,1,65", "4294967295"):
            self.fails(4, *self.axpy(block=block))
        for grid in ("2147483648", "4294967296", "1,65536", "1,1,65536"):
            self.fails(4, *self.axpy(grid=grid))
        self.fails(4, PTX, "--kernel", "limited", "--grid", "1", "--block",
                   "32", "--arg", "out:u32[1]")

    def test_too_much_shared_memory(self):
        self.fails(4, *self.axpy("--shared", "232449"))
        self.fails(4, *self.axpy("--shared", "1G"))
        self.fails(4, *self.axpy("--shared", "16G"))
        self.fails(2, *self.axpy("--shared", "x"))

    def test_wild_pointers(self):
        def launch(pointer):
            return (PTX, "--kernel", "axpy", "--grid", "1", "--block", "32",
                    "--buffer", "b=f32[32]", "--arg", "u32:32", "--arg",
                    "f32:1", "--arg", pointer, "--arg", "ptr:b")
        for pointer in ("null", "u64:16", "u64:0xdeadbeef0000",
                        "u64:18446744073709551612", "ptr:b+1G"):
            self.fails(4, *launch(pointer), contains="axpy")
        self.fails(2, *launch("ptr:nobody"), contains="nobody")
        self.fails(4, *launch("ptr:b+2"), contains="axpy")

    def test_trap(self):
        self.fails(4, PTX, "--kernel", "crash", "--grid", "1", "--block", "1",
                   contains="trap")

    def test_out_of_memory(self):
        self.fails(5, PTX, "--kernel", "count", "--grid", "1", "--block", "1",
                   "--arg", "out:f32[1024G]", "--arg", "u32:1")
        self.fails(5, PTX, "--kernel", "count", "--grid", "1", "--block", "1",
                   "--arg", "out:f64[8589934591G]", "--arg", "u32:1")

    def test_bad_data_files(self):
        def load(name):
            return (PTX, "--kernel", "count", "--grid", "1", "--block", "1",
                    "--arg", name, "--arg", "u32:1")
        self.fails(3, *load("in:missing.npy"), contains="missing.npy")
        write_npy(self.path("f.npy"), "<u4", [1, 2], order="True")
        self.fails(3, *load("in:f.npy"), contains="fortran_order")
        write_npy(self.path("long.npy"), "<u4", [1, 2], extra="x")
        self.fails(3, *load("in:long.npy"), contains="bytes of data")
        write_npy(self.path("good.npy"), "<u4", [1, 2])
        self.fails(3, *load("in:f32[2]=good.npy"), contains="holds u32")
        self.fails(3, *load("in:u32[3]=good.npy"), contains="expected 3")
        self.path("raw.bin", b"12345")
        self.fails(3, *load("in:u32=raw.bin"), contains="5 bytes")
        with open(self.path("good.npy"), "rb") as f:
            whole = f.read()
        for size in range(0, len(whole), 7):
            self.path("cut.npy", whole[:size])
            self.fails(3, *load("in:cut.npy"), contains="cut.npy")

    def test_unwritable_output(self):
        self.fails(3, *self.axpy("--save", "y=/does/not/exist.npy"),
                   contains="/does/not/exist.npy")

    def test_no_device(self):
        self.fails(6, "--device", "cpu:99", PTX, contains="cpu")
        self.fails(6, "--device", "abacus", PTX, contains="abacus")

    def test_timeout(self):
        start = time.monotonic()
        self.fails(7, PTX, "--kernel", "spin", "--grid", "1", "--block", "32",
                   "--arg", "in:u32[1]", "--timeout", "200", contains="spin")
        self.assertLess(time.monotonic() - start, 30)

    # A kernel that takes minutes to compile: a thousand values are alive all
    # the time.
    def slow_kernel(self):
        count = 997
        steps = ["mov.u32 %%r%d, %%clock;" % i for i in range(1, count + 1)]
        steps += ["mad.lo.u32 %%r%d, %%r%d, %%r%d, %%r%d;" % (
            i % count + 1, i * 7 % count + 1, i * 13 % count + 1,
            i * 31 % count + 1) for i in range(20000)]
        steps += ["xor.b32 %%r1, %%r1, %%r%d;" % i for i in range(2, count + 1)]
        return self.path("slow.ptx", """.version 7.0
.target sm_70
.address_size 64
.visible .entry slow(.param .u64 p) {
.reg .u32 %r<1000>;
.reg .u64 %a;
ld.param.u64 %a, [p];
""" + "\n".join(steps) + "\nst.global.u32 [%a], %r1;\nret;\n}\n")

    def slow_launch(self):
        return (self.slow_kernel(), "--kernel", "slow", "--grid", "1",
                "--block", "1", "--arg", "out:u32[1]")

    def test_timeout_while_compiling(self):
        for more in ((), ("--debug-kernel",)):
            start = time.monotonic()
            self.fails(7, *self.slow_launch(), "--timeout", "300", *more,
                       contains="compiling")
            self.assertLess(time.monotonic() - start, 15)

    def test_interrupt_while_compiling(self):
        for more in ((), ("--debug-kernel",), ("--json",)):
            process = subprocess.Popen(
                [os.path.join(BIN, "hetgpu-run"), *self.slow_launch(), *more],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "HETGPU_JIT_CACHE_DIR": CACHE})
            time.sleep(1.5)
            self.assertIsNone(process.poll(), "it must still compile")
            process.send_signal(signal.SIGINT)
            start = time.monotonic()
            _, errors = process.communicate(timeout=30)
            self.assertLess(time.monotonic() - start, 5)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(errors, b"hetgpu-run: error: interrupted\n")

    def test_errors_do_not_wait_for_the_compiler(self):
        start = time.monotonic()
        self.fails(3, *self.slow_launch(), "--arg", "in:missing.npy")
        self.assertLess(time.monotonic() - start, 15)

    def test_interrupt(self):
        process = subprocess.Popen(
            [os.path.join(BIN, "hetgpu-run"), PTX, "--kernel", "spin",
             "--grid", "8", "--block", "64", "--arg", "in:u32[1]"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "HETGPU_JIT_CACHE_DIR": CACHE})
        time.sleep(1.0)
        self.assertIsNone(process.poll(), "the kernel must still run")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(errors, b"hetgpu-run: error: interrupted\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    BIN, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
    PTX = os.path.join(SOURCE, "tools/hetgpu-run/testdata.ptx")
    with tempfile.TemporaryDirectory() as CACHE:
        os.chmod(CACHE, 0o700)
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
