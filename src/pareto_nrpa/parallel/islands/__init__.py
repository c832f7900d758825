"""Several searches of one algorithm that work together on one problem and give one result."""
