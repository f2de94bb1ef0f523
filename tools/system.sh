#!/bin/sh
# Installs what is no Python package, where that is possible without asking; else says what is lost. Never fails.
#   bwrap  bubblewrap, which confines submissions
#   g++    the C++ compiler, which runs CUDA submissions on the CPU (docs/emulator.md)
# With the argument 'browser', what only the tests take:
#   chromium  without a window, in which the tests of 'judge-tui serve' press keys
set -u

# found PROGRAM...: whether one of them is there
found() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 && return
    done
    return 1
}

# install PACKAGE WHAT-FOR WHAT-IS-LOST PROGRAM...
install() {
    package=$1 use=$2 lost=$3
    shift 3
    found "$@" && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing $package, which $use."
        (export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -y -qq --no-install-recommends "$package") >/dev/null 2>&1
    fi
    found "$@" && return
    echo "$1 is missing: $lost; install it with 'apt-get install $package'." >&2
}

if [ "${1:-}" = browser ]; then
    install chromium-headless-shell "shows the page of 'judge-tui serve' to its tests" \
        "the tests that need a browser are skipped" \
        chromium-headless-shell chromium chromium-browser google-chrome
else
    install bubblewrap "confines submissions" "submissions run less confined" bwrap
    install g++ "runs CUDA submissions on the CPU" "CUDA submissions run on a GPU alone" g++
fi
exit 0
