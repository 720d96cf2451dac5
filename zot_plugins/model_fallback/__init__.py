"""Fallback chains: when a model fails, the next one of its chain answers. Knows no provider and no wire format."""
