"""`python -m pareto_nrpa` is the command `pareto-nrpa`."""

from .cli import main

main()
