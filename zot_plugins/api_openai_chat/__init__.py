"""The wire format `openai-completions`: OpenAI's Chat Completions, and every server that speaks it.

Two pure functions, request out and stream parts in. Must not know a network, a credential or a provider's name.
"""
