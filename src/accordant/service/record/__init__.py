"""The record of a service: every act in one append-only log that anybody can check."""
