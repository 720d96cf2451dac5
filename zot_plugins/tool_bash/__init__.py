"""The tool `bash`: one command in the person's shell, from start to end. Knows no other tool."""
