#!/bin/sh
# Builds the wheel and tries it on every Python >= 3.11 that is here: installed alone, in a folder of its own.
#   try_wheel.sh PYTHON CONSTRAINTS [OTHER-PYTHON...]
set -eu

python=$1 constraints=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export JUDGE_TUI_CACHE="$folder/cache"
"$python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$folder" .
wheel=$(echo "$folder"/*.whl)
echo "$(basename "$wheel"): $(wc -c <"$wheel") bytes"

# pythons: those that were named, on the search path, or kept by pyenv; each minor version once
pythons() {
    for each in "$@" python3.11 python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python; do
        command -v "$each" 2>/dev/null || true
    done
}

seen=""
for each in $(pythons "$@"); do
    version=$("$each" -c 'import sys; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 11) else "")' 2>/dev/null) || continue
    case " $seen " in *" $version "*) continue ;; esac
    [ -n "$version" ] || continue
    seen="$seen $version"
    "$each" -m venv "$folder/$version"
    "$folder/$version/bin/python" -m pip install -q --disable-pip-version-check -c "$constraints" "$wheel"
    "$folder/$version/bin/judge-tui" demo "$folder/demo-$version" >/dev/null </dev/null
    tried=$("$folder/$version/bin/judge-tui" check glm5 qwen36 --task beam_search --fresh | tail -n 1) && ended=0 || ended=$?
    case $ended in
        0 | 1 | 4) echo "Python $version: $("$folder/$version/bin/judge-tui" --version): $tried" ;;
        *) echo "Python $version: check ended with $ended: $tried"; exit 1 ;;
    esac
done
echo "tried on:$seen"
