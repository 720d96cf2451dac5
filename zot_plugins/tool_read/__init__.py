"""The tool `read`: text of files, PDFs and notebooks, and pictures, in pieces for models. Knows no other tool."""
