"""The tool `grep`: lines of files that fit a pattern, from `rg` or a stand-in. Knows no other tool."""
