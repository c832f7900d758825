"""The algorithm in the paper's words: its parameters, its search, its playouts."""
