"""The tool `write`: a whole file, or nothing. Knows no other tool."""
