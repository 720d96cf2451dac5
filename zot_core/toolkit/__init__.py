"""What tools are built from: truncation, the mutation queue, paths, diffs, encodings, process groups, policies.

A helper here knows no tool by name, no session and no screen. Plugins' own tools may use all of it, and must use the
mutation queue and the policy check to stand in line with the built-in ones.
"""
