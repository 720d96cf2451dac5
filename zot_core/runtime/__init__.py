"""One session's generation: its plugins, registries, choice of model, runs and sink.

Knows plugins only as the pipeline's listeners and the front end only as something to tell.
"""
