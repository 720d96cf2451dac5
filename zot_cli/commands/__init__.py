"""The subcommands of `zot`, a module each, imported only when one runs.

They ask the core and print a table, plain columns or JSON; what there is to know is the core's.
"""
