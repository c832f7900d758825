"""Problems as algorithms play them: one adapter for those in plain Python, one for compiled ones."""
