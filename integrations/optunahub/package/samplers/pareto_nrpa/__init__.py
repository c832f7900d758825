from pareto_nrpa.optuna import ParetoNRPASampler, play

__all__ = ["ParetoNRPASampler", "play"]
