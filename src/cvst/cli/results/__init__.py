"""What a race found: as looks, as text and as a folder of files."""

from cvst.cli.results._folder import (
    FILES,
    RACE_FILE,
    SUMMARY_FILE,
    check_folder,
    json_bytes,
    model_bytes,
    results_csv,
    write_file,
    write_folder,
)
from cvst.cli.results._looks import (
    plain,
    race_steps,
    score_name,
    steps_table,
    stop_sentence,
)
from cvst.cli.results._text import result_text

__all__ = [
    "FILES",
    "RACE_FILE",
    "SUMMARY_FILE",
    "check_folder",
    "json_bytes",
    "model_bytes",
    "plain",
    "race_steps",
    "result_text",
    "results_csv",
    "score_name",
    "steps_table",
    "stop_sentence",
    "write_file",
    "write_folder",
]
