"""Pygent: a coding agent that you can import."""

__version__ = "0.1.0"
