"""What screens and plugins share of how things look: themes, colours. Data and lines of text; knows no terminal."""
