# Sourced by the scripts beside it: makes the virtual environment in .venv and keeps it as the requirements say.
# shellcheck shell=bash

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv

complain() {
    printf 'memory: %s\n' "$*" >&2
    exit 1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    complain "Python 3.11 or newer is needed and was not found: install it (Debian: apt-get install python3 python3-venv)," \
        "or name it, for example PYTHON=/opt/python3.12/bin/python3 bin/up."
}

make_venv() {
    local python
    python=$(find_python) || exit 1
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        complain "$("$python" -V) has no venv module: install it (Debian and Ubuntu: apt-get install python3-venv)."
    printf 'memory: making the virtual environment in %s\n' "$venv" >&2
    "$python" -m venv --clear "$venv" || complain "The virtual environment could not be made in $venv."
}

# The stamp is a copy of what was installed, so that any change to the requirements is seen.
installed() {
    cat "${@:2}" | cmp -s - "$venv/$1"
}

# ensure_venv STAMP REQUIREMENTS_FILE…: the first file is installed, the others are those it includes.
ensure_venv() {
    local stamp=$1
    shift
    if [ -x "$venv/bin/python" ] && installed "$stamp" "$@"; then
        return
    fi
    (
        # Two starts at once must not install into the same place. macOS has no flock; there it is not guarded.
        if command -v flock >/dev/null; then
            exec 9<"$root/requirements.txt"
            flock 9
        fi
        "$venv/bin/python" -c '' 2>/dev/null || make_venv
        if ! installed "$stamp" "$@"; then
            printf 'memory: installing %s (the first time takes a minute or two)\n' "${1##*/}" >&2
            "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1" >&2 ||
                complain "The packages of $1 could not be installed; pip has said why above."
            cat "$@" >"$venv/$stamp"
        fi
    ) || exit 1
}

# Start our command line. -P: a file of the current folder must not stand in for a module.
embedded() {
    PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} exec "$venv/bin/python" -P -m memory_site.embedded "$@"
}
