"""The policy `jail`: tools and commands stay inside the project. Knows no tool."""
