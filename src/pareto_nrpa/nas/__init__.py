"""Neural architecture search on tables: cells are built move by move, and looked up instead of trained."""
