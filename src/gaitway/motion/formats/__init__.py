"""Readers and writers of motion files."""
