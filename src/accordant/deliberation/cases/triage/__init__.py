"""Emergency visits: who gets one of a few beds, from public data or a simulator."""
