"""Themes as data: the built-in ones, and which there are in the project, the home and other plugins. Draws nothing."""
