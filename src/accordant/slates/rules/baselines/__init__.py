"""Lists that every rule must beat: what one stakeholder would choose alone, and a draw."""
