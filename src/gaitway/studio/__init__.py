"""The live studio: a place where a person directs a crowd, apart from the page that shows it."""
