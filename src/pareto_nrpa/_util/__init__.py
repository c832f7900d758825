"""Files, checks and versions, used by all packages."""
