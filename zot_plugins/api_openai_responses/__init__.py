"""The wire format `openai-responses`: OpenAI's Responses API, and every server that speaks it.

Two pure functions, request out and stream parts in. Must not know a network, a credential or a provider's name.
"""
