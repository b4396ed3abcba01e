#!/bin/sh
# Runs a tool of the environment that `make setup` makes, or without one the tool that is
# on the path: for the hooks of pre-commit.
#
#     sh tools/tool.sh ruff check

name=$1
shift
for folder in .venv/bin .venv/Scripts; do
    if [ -x "$folder/$name" ]; then
        exec "$folder/$name" "$@"
    fi
done
if command -v "$name" >/dev/null; then
    exec "$name" "$@"
fi
echo "$name is not installed. Run: make setup, or pip install --group lint -e ." >&2
exit 127
