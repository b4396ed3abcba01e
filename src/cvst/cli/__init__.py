"""The command line, one module per command."""

from cvst.cli._main import build_parser, main

__all__ = ["build_parser", "main"]
