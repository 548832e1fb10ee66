"""The terminal: options that several commands share, what they print, and texts of others made harmless."""
