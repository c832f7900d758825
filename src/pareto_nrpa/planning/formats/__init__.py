"""Files of other tools, each read into what `routing` makes a problem of."""
