from pareto_nrpa.integrations.optuna import ParetoNRPASampler, play

__all__ = ["ParetoNRPASampler", "play"]
