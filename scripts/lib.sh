# What demo, test, fuzz and bench share: a bare machine made ready, and words for what goes wrong.
# Sourced, not run. Works in any bash from 3.2 on.
# shellcheck shell=bash disable=SC2034

set -euo pipefail
CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\033[1m' red=$'\033[31m' green=$'\033[32m' plain=$'\033[0m'
else
    bold='' red='' green='' plain=''
fi

# Ends the script with one sentence that says what to do.
die() {
    printf '%s%s: %s%s\n' "$red" "$(basename "$0")" "$*" "$plain" >&2
    exit 1
}

# Prints the milliseconds since some fixed moment; whole seconds on a bash without EPOCHREALTIME.
now_ms() {
    local now=${EPOCHREALTIME:-}
    if [ -n "$now" ]; then
        now=${now/[.,]/}
        echo $((now / 1000))
    else
        echo $(($(date +%s) * 1000))
    fi
}

# Prints the name of the Chromium to be found, in the order in which ostler itself looks.
chromium_name() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        if command -v "$name" >/dev/null; then
            echo "$name"
            return
        fi
    done
    return 1
}

# Installs Debian packages, as root or through sudo.
apt_install() {
    local as_root=() log
    command -v apt-get >/dev/null ||
        die "this needs $* (Debian's names) and the system has no apt-get: install them by hand, then run this again"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            die "this needs $* and there is no sudo: run 'apt-get install $*' as root, then run this again"
        as_root=(sudo)
    fi
    echo "installing $* with apt-get"
    log=$(mktemp)
    if ! {
        ${as_root[@]+"${as_root[@]}"} apt-get -q update &&
            ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
                apt-get -q -y install --no-install-recommends "$@"
    } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install $*: its last words are above"
    fi
    rm -f "$log"
}

# Makes sure that everything the project needs is there, or says which part is not.
set_up() {
    local missing=()
    if ! command -v cargo >/dev/null && [ -f "$HOME/.cargo/env" ]; then
        # A shell opened before rustup was installed does not know of it yet.
        # shellcheck source=/dev/null
        . "$HOME/.cargo/env"
    fi
    command -v cargo >/dev/null || die "Rust is missing: install it from https://rustup.rs, then run this again"
    command -v cc >/dev/null || missing+=(gcc libc6-dev) # the linker, and the one dependency written in C
    command -v python3 >/dev/null || missing+=(python3)
    # Debian only recommends a font, and without any a page has no text to show.
    chromium_name >/dev/null || missing+=(chromium chromium-sandbox fonts-liberation)
    [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
    # On some systems the package is only a pointer to another store, and the command does not start.
    "$(chromium_name)" --version >/dev/null 2>&1 ||
        die "'$(chromium_name)' does not start: install Chromium or Chrome by hand, then run this again"
}
