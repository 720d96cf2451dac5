"""Dialogs: components that a person answers. Each calls `done` once, with its answer or with None when dismissed."""
