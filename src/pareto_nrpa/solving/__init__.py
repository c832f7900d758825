"""The call of `solve`: stops, callbacks, interrupts and the result.

The package is not called `solve`: an import of `pareto_nrpa.solve.stop` would bind the name `pareto_nrpa.solve` to the
package, and the function of that name would be gone.
"""
