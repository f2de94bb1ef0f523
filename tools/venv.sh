#!/bin/sh
# Makes the virtual environment $2 with the interpreter $1, or says in one sentence why it cannot.
set -eu
python=$1 venv=$2
for candidate in "$python" python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        found=$candidate
        break
    fi
done
if [ -z "${found:-}" ]; then
    echo "judge-tui needs Python 3.11 or later; name one with 'make PYTHON=/path/to/python3'." >&2
    exit 1
fi
if ! "$found" -c 'import ensurepip' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
    else
        echo "$found has no ensurepip; install the package python3-venv and try again." >&2
        exit 1
    fi
fi
exec "$found" -m venv "$venv"
