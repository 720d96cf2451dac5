"""The tool `ls`: what is in one folder. Knows no other tool."""
