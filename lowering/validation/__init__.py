"""Translation validation (Pnueli, Siegel, Singerman, TACAS 1998) of loop nests."""
