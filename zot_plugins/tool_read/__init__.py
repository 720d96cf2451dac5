"""The tool `read`: a file's text, or a picture, in pieces of a size that models take. Knows no other tool."""
