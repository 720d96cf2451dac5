"""What handlers, commands and tools receive: facades over the session they run in.

Must not know how a session is kept or a screen is drawn; it holds a Runtime and asks it.
"""
