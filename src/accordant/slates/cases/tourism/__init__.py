"""Tourism: which attractions to show to visitors, while residents, small attractions and the city have a say too."""
