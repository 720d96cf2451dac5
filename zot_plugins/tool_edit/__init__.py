"""The tool `edit`: exact replacements that change nothing else. Knows no other tool."""
