#!/bin/sh
# Record the races before and after the redesign, and compare them.
#
#     sh benchmarks/recorded/redesign.sh FOLDER [PYTHON]
#
# Both versions are checked out below FOLDER, which must not exist. The commit before the
# redesign has no recorder yet: it gets that of 92475a2, the first one. FOLDER then holds
# the two recordings, what differs (differs.txt) and a digest of every race in both
# (digests.json); what they were is in benchmarks/results/recorded_redesign.json and .txt.
# It takes three minutes of one core.
set -eu
folder=$1
python=${2:-python}
mkdir "$folder"
folder=$(cd "$folder" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(git -C "$here" rev-parse --show-toplevel)
tree() {
    mkdir "$folder/$1"
    git -C "$root" archive "$2" | tar -x -C "$folder/$1"
}
tree before 96dd43a
tree recorder 92475a2
tree after cb09028
cp -r "$folder/recorder/benchmarks/recorded" "$folder/before/benchmarks/recorded"
for version in before after; do
    (
        cd "$folder/$version"
        PYTHONPATH="$folder/$version/src" "$python" benchmarks/recorded record \
            "$folder/$version.json.gz" > "$folder/$version.txt"
    )
done
# The comparison of that time knows the names of both.
PYTHONPATH="$folder/after/src" "$python" "$folder/after/benchmarks/recorded" compare \
    "$folder/before.json.gz" "$folder/after.json.gz" > "$folder/differs.txt" || true
"$python" "$here/digests.py" "$folder/before.json.gz" "$folder/after.json.gz" \
    > "$folder/digests.json"
tail -n 1 "$folder/differs.txt"
