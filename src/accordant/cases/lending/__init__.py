"""Lending: who gets a loan, and how much of it."""
