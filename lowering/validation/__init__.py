"""Translation validation (Pnueli, Siegel, Singerman, TACAS 1998): is the nest the program?"""
