"""The wire format `google-generative-ai`: Gemini's `generateContent`, streamed.

Two pure functions, request out and stream parts in. Must not know a network, a credential or a provider's name.
"""
