"""Extensions: programs of any language that speak zot's protocol over their pipes, and bundles that only carry data.

One extension is one plugin, `ext:<name>`; order, errors and tracing are the pipeline's. `cli/` is `zot ext`.
"""
