"""What `zot ext new` writes, a file a language; `@NAME@` and the like are filled in."""
