"""The `zot` command: options, subcommands and modes. Events in, bytes out.

Knows the core; must not import a plugin, nor anything heavy before it is known what is to be done.
"""
