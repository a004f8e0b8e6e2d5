#!/bin/sh
# Everything that docs/benchmarks.md tells of a GPU, measured in one go of at most 6 minutes:
#
#     tests/bench/h200.sh FOLDER [OPTIONS of taoxr bench render, such as --quick --seconds 1]
#
# Needs taoxr with the extra `xr` and an NVIDIA GPU with OpenGL through EGL; for gsplat what compare_gsplat.py
# names, and a CUDA toolkit. Writes to FOLDER (made if missing):
#
#     driver.txt    GPU, driver, commit, load
#     render.json   bodies, 16 against 32 bits ("body moved" and "body moved, 32 bits"), quads in one draw and
#                   in two, the sort by every plan, 60 s of a headset's loop
#     gsplat.json, gsplat.png
#     tests.txt     what the GPU draws and sorts, against the float64 reference
#
# A part that fails or takes too long leaves its *.log, the others run all the same; the exit status counts
# the parts that failed. PYTHON names another interpreter.
set -u
out=${1:?usage: h200.sh FOLDER [OPTIONS]}
shift
python=${PYTHON:-python3}
mkdir -p "$out" || exit 1
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here" || exit 1
failed=0

# part NAME SECONDS FILE COMMAND...
part() {
    name=$1 limit=$2 file=$3
    shift 3
    began=$(date +%s)
    if timeout "$limit" "$@" >"$out/$file" 2>"$out/$name.log"; then
        rm -f "$out/$name.log"
        state=done
    else
        failed=$((failed + 1))
        state="failed, see $name.log"
    fi
    echo "$name: $(($(date +%s) - began)) s, $state"
}

{
    git rev-parse HEAD
    uname -sr
    uptime
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw --format=csv
} >"$out/driver.txt" 2>&1

# gsplat compiles its kernels at the first import, in 1 to 2 minutes: nothing is timed meanwhile.
timeout 200 "$python" -c 'import gsplat.cuda._backend' >"$out/build.log" 2>&1 &
builder=$!
part tests 75 tests.txt "$python" -m pytest -q -p no:cacheprovider \
    tests/runtime/test_render_sorts.py tests/runtime/test_render_layers.py tests/runtime/test_render_early_stop.py
built=yes
wait "$builder" || built=no

# The first start in a new cache folder measures plans and rasterizers, 1 to 3 s of it.
part render 115 render.json "$python" -c 'from taoxr.cli import main; main()' \
    bench render --floats --sorts --seconds 60 --json "$@"
if [ "$built" = yes ]; then
    rm -f "$out/build.log"
    part gsplat 45 gsplat.json "$python" tests/bench/compare_gsplat.py --out "$out"
else
    failed=$((failed + 1))
    echo "gsplat: not built, see build.log"
fi
exit "$failed"
