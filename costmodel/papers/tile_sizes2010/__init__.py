"""Rahman et al., "Neural Network Assisted Tile Size Selection", iWAPT 2010."""
