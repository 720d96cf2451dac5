"""One module for each kind of reference page. They read the code; nothing reads them but docs/gen.py and its tests."""
