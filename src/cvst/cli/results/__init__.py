"""What a race found: as looks, as text and as a folder of files."""

from cvst.cli.results._folder import (
    FILES,
    RACE_FILE,
    SUMMARY_FILE,
    ModelNotSavedError,
    check_folder,
    json_bytes,
    model_bytes,
    results_csv,
    write_file,
    write_folder,
)
from cvst.cli.results._looks import (
    RaceLook,
    looks_table,
    plain,
    race_looks,
    stop_sentence,
)
from cvst.cli.results._text import result_text

__all__ = [
    "FILES",
    "RACE_FILE",
    "SUMMARY_FILE",
    "ModelNotSavedError",
    "RaceLook",
    "check_folder",
    "json_bytes",
    "looks_table",
    "model_bytes",
    "plain",
    "race_looks",
    "result_text",
    "results_csv",
    "stop_sentence",
    "write_file",
    "write_folder",
]
