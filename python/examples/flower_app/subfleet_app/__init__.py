"""Subfleet as a Flower app."""
