"""The interactive terminal: what `zot` opens without a mode.

`state.py` folds events into what there is to show, `blocks/` and `chrome.py` render it into lines, both pure;
`screen.py` owns the terminal, `front.py` ties a session to it, `main.py` begins and ends it. Must not know a plugin or
a provider.
"""
