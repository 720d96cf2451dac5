"""The provider `scripted`: no model, but a script that is played, or a small demonstration.

It works without a key and a network, and is the double of zot's own tests and of every plugin author. Must not know a
real provider.
"""
