"""What everything else is made of: content blocks, messages, usage, failures, stream parts, specs.

Frozen dataclasses only. Nothing here reads a file, knows an event, or imports a third-party package.
"""
