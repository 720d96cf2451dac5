"""Models: the protocol between agent and provider, message projection, the request runner, the model registry.

Must not know a single provider or wire format; those are plugins.
"""
