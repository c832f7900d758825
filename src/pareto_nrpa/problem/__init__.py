"""What a problem is, how one is written, and how it is checked."""
