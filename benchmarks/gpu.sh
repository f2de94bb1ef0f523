#!/bin/sh
# Everything that is asked of the GPU side, on a machine that has one, within ten minutes; one report.
#
#     benchmarks/gpu.sh [REPORT]        by default gpu-report.md
#
# FAKE=1 runs it on a strict double of CuPy, which tests this script and measures nothing.
# Exit status: 0 when all of it held, 1 when something did not, 2 without a GPU.
set -u
cd "$(dirname "$0")/.." || exit 2
report=${1:-gpu-report.md}
python=${PYTHON:-.venv/bin/python}
bad=0
start=$(date +%s)
JUDGE_TUI_CACHE=$(mktemp -d) && export JUDGE_TUI_CACHE || exit 2
trap 'rm -rf "$JUDGE_TUI_CACHE"' EXIT

part() {  # part SECONDS TITLE COMMAND…: a section of the report; what runs past its seconds is stopped and said
    seconds=$1; title=$2; shift 2
    printf '\n## %s\n\n```\n' "$title" >>"$report"
    timeout "$seconds" "$@" >>"$report" 2>&1
    status=$?
    printf '```\n\nexit status %s after %s s in all\n' "$status" "$(($(date +%s) - start))" >>"$report"
    [ "$status" -eq 124 ] && printf 'stopped: it ran past its %s s\n' "$seconds" >>"$report"
    [ "$status" -eq 0 ] || bad=1
}

: >"$report"
if [ -n "${FAKE:-}" ]; then
    # A part of each part, so that all of the script is gone through.
    fake="--fake --tasks backwards --check purity --lengths 4096 --seconds 240"
    timeout 400 "$python" benchmarks/bench_gpu.py $fake --parts fuse flash verdicts >"$report" 2>&1 || bad=1
    part 60 "judge-tui doctor" "$python" -P -m judge_tui.cli doctor
    exit "$bad"
fi
if ! "$python" -c 'import sys; from judge_tui.checks.backends import find; g = find("gpu"); print(g.line); sys.exit(not g.works)'; then
    echo "no GPU that works: nothing was run" >&2
    exit 2
fi
timeout 450 "$python" benchmarks/bench_gpu.py --seconds 270 >>"$report" 2>>"$report.err"
status=$?
[ "$status" -eq 0 ] || { bad=1; printf '\nbench_gpu.py: exit status %s\n' "$status" >>"$report"; tail -20 "$report.err" >>"$report"; }
rm -f "$report.err"
part 110 "Tests marked gpu" "$python" -m pytest -q -n 0 -m gpu tests
part 20 "judge-tui doctor" "$python" -P -m judge_tui.cli doctor
printf '\n%s s in all\n' "$(($(date +%s) - start))" >>"$report"
echo "$report"
exit "$bad"
