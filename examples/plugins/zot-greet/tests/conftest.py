pytest_plugins = ["zot_core.testing.plugin"]
