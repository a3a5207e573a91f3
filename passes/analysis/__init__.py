"""Analyses that passes ask before they rewrite: pure functions over plain data, without IR."""
