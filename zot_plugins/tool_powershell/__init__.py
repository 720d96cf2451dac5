"""The tool `powershell`, where the system is Windows. Knows no other tool."""
