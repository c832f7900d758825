"""Neural architecture search on tables: a cell is built move by move, and looked up instead of trained."""
