"""What authors of extensions copy: `zot_ext.py`, one file of the standard library only. Zot imports none of it."""
