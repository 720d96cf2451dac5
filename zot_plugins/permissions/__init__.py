"""Permissions: which tool calls run, which are asked about, which are refused.

Rules are pure; the gate stands last in the chain of `tool_call`, so that it judges what will really run. How a person
is asked is the front end's. Must not know a tool's inside.
"""
