#!/bin/sh
# Installs what is no Python package, where that is possible without asking; else says what is lost. Never fails.
#   bwrap  bubblewrap, which confines submissions
#   g++    the C++ compiler, which runs CUDA submissions on the CPU (docs/emulator.md)
set -u

# install PROGRAM PACKAGE WHAT-FOR WHAT-IS-LOST
install() {
    command -v "$1" >/dev/null 2>&1 && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing $2, which $3."
        (apt-get update -qq && apt-get install -y -qq "$2") >/dev/null 2>&1
    fi
    command -v "$1" >/dev/null 2>&1 && return
    echo "$1 is missing: $4; install it with 'apt-get install $2'." >&2
}

install bwrap bubblewrap "confines submissions" "submissions run less confined"
install g++ g++ "runs CUDA submissions on the CPU" "CUDA submissions run on a GPU alone"
exit 0
