"""Skills: instructions for particular kinds of work, found as `SKILL.md` files in the form that agents share.

One line of each is in the system prompt; the tool `skill` and `/skill:NAME` load the rest. Must not run anything of a
skill.
"""
