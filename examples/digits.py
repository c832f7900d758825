"""A search without a table: networks that read handwritten digits, few mistakes against few parameters.

Every evaluation trains a network, in one of several processes; kill the program at any time, and the same command
goes on: `python examples/digits.py 200`. Copy it for evaluations of your own that take seconds or hours.
"""

import sys
import warnings
from itertools import pairwise

try:
    from sklearn.datasets import load_digits
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier
except ImportError as error:
    message = 'this example needs scikit-learn; install it with: pip install "pareto-nrpa[nas]".'
    raise ImportError(message) from error

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, ProgressBar
from pareto_nrpa.parallel import Processes, solve_expensive

CHOICES = {
    "pixels": (64, 16),  # the picture as it is, or the mean of each two by two
    "activation": ("relu", "tanh", "logistic"),
    "learning rate": (0.001, 0.003, 0.01, 0.03),
    "decay": (1e-5, 1e-3, 1e-1, 1.0),
    "batch": (32, 128),
}
SIZES, MAX_LAYERS, CLASSES = (2, 4, 8, 16, 32, 64, 128), 3, 10


class Digits(Problem):
    """Choose how to train, then add layers until one says stop."""

    n_objectives = 2  # mistakes on held-out pictures in per cent, number of parameters
    reference_point = (100.0, 40_000.0)

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        depth = len(state) - len(CHOICES)
        if depth < 0:
            return list(CHOICES.values())[len(state)]
        if depth == MAX_LAYERS or (state and state[-1] == "stop"):
            return ()
        return SIZES if depth == 0 else (*SIZES, "stop")

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        """Train a network; runs in a worker process."""
        (pixels, activation, rate, decay, batch), layers = state[: len(CHOICES)], state[len(CHOICES) :]
        sizes = tuple(size for size in layers if size != "stop")
        pictures, digits = load_digits(return_X_y=True)
        if pixels == 16:
            pictures = pictures.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
        # The search chooses by the held-out part, so judge the network you take on pictures that it never saw.
        seen, held_out, names, held_out_names = train_test_split(
            pictures / 16, digits, test_size=0.3, random_state=0, stratify=digits
        )
        network = MLPClassifier(
            sizes,
            activation=activation,
            learning_rate_init=rate,
            alpha=decay,
            batch_size=batch,
            max_iter=30,
            random_state=0,  # same network, same result
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # thirty rounds are what it gets
            network.fit(seen, names)
        shape = (pixels, *sizes, CLASSES)
        parameters = sum((n + 1) * m for n, m in pairwise(shape))
        return 100 * (1 - network.score(held_out, held_out_names)), parameters


if __name__ == "__main__":  # worker processes import this file
    evaluations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    problem = Digits()
    with ProgressBar(problem, evaluations=evaluations) as bar:
        result = solve_expensive(
            problem,
            ParetoNRPA(level=2),
            stop=MaxEvaluations(evaluations),
            seed=1,
            evaluator=Processes(time_limit=60),  # seconds for one network; one that takes longer has failed
            journal="digits.jsonl",  # a line for every network, on disk as soon as it is trained
            resume=True,
            callbacks=bar,
        )
    print(result.summary())
