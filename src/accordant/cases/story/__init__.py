"""Grants for home energy in a made-up town whose residents want opposite things, and a town where all want the same."""
