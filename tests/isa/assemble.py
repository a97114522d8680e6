"""Has NVIDIA's assembler take what the CUDA target makes of PTX files.

usage: assemble.py --cc HETGPU_CC [--ptxas PTXAS] [--gpu sm_90] FILE...

Every kernel of the files is recompiled and assembled. Ends with 77 when there
is no assembler (which ctest counts as skipped), with 1 when a kernel is refused.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def kernels_of(path):
    return re.findall(r"\.entry\s+([\w$]+)", path.read_text())


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr or "failed"


def assemble(args, path, kernel, folder):
    image = folder / f"{kernel}.ptx"
    error = run([args.cc, path, "--kernel", kernel, "--emit=nvptx", "--gpu",
                 args.gpu, "-o", image])
    return error or run([args.ptxas, f"-arch={args.gpu}", image, "-o",
                         folder / f"{kernel}.cubin"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--gpu", default="sm_90")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    if not shutil.which(args.ptxas):
        print(f"skipped: no {args.ptxas}")
        return 77
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in args.files:
            for kernel in kernels_of(path):
                count += 1
                error = assemble(args, path, kernel, pathlib.Path(folder))
                if error:
                    failed += 1
                    print(f"{path.name}: {kernel}: {error}", file=sys.stderr)
    print(f"{count - failed} of {count} kernels assembled")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
