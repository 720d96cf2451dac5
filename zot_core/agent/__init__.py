"""The agent: loop, turn, calls, builder, queues, cancellation, prompt. Functions over messages, configuration and sink.

Must not know a terminal, a file, a setting, a provider or a plugin.
"""
