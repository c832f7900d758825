"""What plays, judges and keeps solutions: compiled code that knows no algorithm."""
