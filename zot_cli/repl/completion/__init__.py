"""Completions: who suggests what (`sources.py`, `files.py`), and the menu above the editor (`menu.py`)."""
