"""The tool `find`: files and folders by a glob for their names. Knows no other tool."""
