"""What plugins put on the screen: components, overlays, editors, renderers, shortcuts.

Each is held here with the plugin that it is of, so that one that breaks is closed and named. Knows no plugin.
"""
