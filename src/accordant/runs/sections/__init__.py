"""What a finished run is asked, and the sections that the answers add to its folder."""
