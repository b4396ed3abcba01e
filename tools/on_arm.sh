#!/bin/sh
# Run tests as on ARM, by emulation, on a Debian machine of another kind.
#
#     sudo sh tools/on_arm.sh FOLDER tests/learners tests/search/test_parity.py
#
# FOLDER gets a small Debian for ARM with Python 3.11 and the packages of the tests; it
# is made once, which takes a quarter of an hour, and used again. It needs debootstrap
# and qemu-user-static. Expect ten to thirty times the usual time, so name the tests
# that matter, or give it many cores (-n 16). Tests of browsers are skipped; those that
# limit memory or ask when a process began fail, since the emulator does not tell.
set -eu
[ $# -ge 2 ] || { echo "usage: on_arm.sh FOLDER TEST..." >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
source=$(cd "$(dirname "$0")/.." && pwd)

# The kernel hands ARM programs to the emulator, inside the folder too (flag F).
formats=/proc/sys/fs/binfmt_misc
[ -e $formats/register ] || mount -t binfmt_misc none $formats
if [ ! -e $formats/qemu-aarch64 ] && [ ! -e $formats/cvst-aarch64 ]; then
    start='\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":cvst-aarch64:M::$start:$mask:$(command -v qemu-aarch64-static):F" \
        >$formats/register
fi

if [ ! -e "$folder/ready" ]; then
    debootstrap --arch=arm64 --variant=minbase \
        --include=python3,ca-certificates,libgomp1,procps,git bookworm "$folder/root"
    # Downloaded here, where pip is not emulated.
    python3 -m pip install --quiet --target "$folder/root/site" --python-version 3.11 \
        --only-binary=:all: --platform manylinux_2_28_aarch64 \
        --platform manylinux_2_27_aarch64 --platform manylinux_2_17_aarch64 \
        --platform manylinux2014_aarch64 \
        scikit-learn threadpoolctl matplotlib pandas pyarrow rich skops pyyaml shtab \
        plotly jinja2 numba hypothesis lightgbm optuna pytest pytest-xdist statsmodels \
        distributed polars xgboost-cpu
    touch "$folder/ready"
fi

mkdir -p "$folder/root/cvst"
# The command that tests type; the package itself is not installed.
printf '%s\n' '#!/usr/bin/python3' 'import sys' 'from cvst.cli import main' \
    'sys.exit(main())' >"$folder/root/usr/bin/cvst"
chmod +x "$folder/root/usr/bin/cvst"
for name in proc dev dev/pts dev/shm; do
    mountpoint -q "$folder/root/$name" || mount --bind /$name "$folder/root/$name"
done
mountpoint -q "$folder/root/cvst" || mount --bind "$source" "$folder/root/cvst"
exec chroot "$folder/root" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 \
    QEMU_CPU=neoverse-n1 PYTHONPATH=/cvst/src:/site \
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
    sh -c 'cd /cvst && exec python3 -m pytest -p no:cacheprovider -o faulthandler_timeout=0 "$@"' pytest "$@"
