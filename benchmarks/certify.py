"""Which fronts can be proved complete: `python benchmarks/certify.py rc_201.1 rc_204.3 --seconds 300 --memory 4`.

Certificates are lines of the file that comes with the package, exact/proofs.jsonl, and are not made again; the table is
made from all that are there. Without instances: all official ones. `--prove-again 3` proves each stored front three
times from a random half of its points, and fails unless the other half is found again and every interval is verified.
"""

import argparse
import time

import numpy as np
from report import write

from pareto_nrpa import certify, load
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.result.result import Front
from pareto_nrpa.routing.benchmarks import official_names
from pareto_nrpa.routing.exact import Certificate, CertificateError, check_certificate, check_intervals
from pareto_nrpa.routing.exact.certificate import INFEASIBLE, OPEN, PROVED
from pareto_nrpa.routing.exact.proofs import read_proofs, write_proofs

# In the versions of a certificate that was taken over when the meaning of the data changed, without another proof.
CARRIED = "carried over"
# The published optimum of the first objective, from the literature on one objective.
OPTIMA = {
    "rc_201.1": 444.54,
    "rc_201.2": 711.54,
    "rc_201.3": 790.61,
    "rc_201.4": 793.64,
    "rc_202.1": 771.78,
    "rc_202.3": 837.72,
    "rc_202.4": 793.03,
    "rc_203.1": 453.48,
    "rc_204.3": 455.03,
    "rc_205.1": 343.21,
    "rc_205.2": 755.93,
    "rc_205.3": 825.06,
    "rc_205.4": 760.47,
    "rc_206.1": 117.85,
    "rc_206.2": 828.06,
    "rc_206.3": 574.42,
    "rc_206.4": 831.67,
    "rc_207.1": 732.68,
    "rc_207.2": 701.25,
    "rc_207.3": 682.40,
    "rc_207.4": 119.64,
}
_WORDS = {PROVED: "proved", INFEASIBLE: "infeasible", OPEN: "open"}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("instances", nargs="*", help="official instances; all of them by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each")
    parser.add_argument("--memory", type=float, default=4.0, help="gigabytes")
    parser.add_argument("--again", action="store_true", help="continue those whose certificate leaves something open")
    parser.add_argument("--prove-again", type=int, default=0, metavar="TIMES", help="from half of a front")
    options = parser.parse_args(arguments or [])
    memory = options.memory * 1e9
    for name in options.instances or sorted(official_names()):
        try:
            if options.prove_again:
                prove_again(name, options.prove_again, options.seconds, memory)
            else:
                make(name, options.seconds, memory, again=options.again)
        except InstanceError as error:
            print(f"{name} not certified: {error}")
    if options.prove_again:
        return
    certificates = read_proofs()
    for certificate in certificates:
        verify(certificate)
    write_table(certificates)


def make(name: str, seconds: float, memory: float, *, again: bool) -> None:
    """Make and check a certificate, unless there is one; a proof that is continued keeps what is proved."""
    earlier = next((one for one in read_proofs() if one.instance == name), None)
    if earlier is not None and (earlier.proved or not again):
        return
    problem = load(name)
    certificate = certify(problem, resume=earlier, time_limit=seconds, memory_limit=memory)
    check_certificate(certificate, problem)
    print(certificate.summary(), flush=True)
    write_proofs([certificate])
    if certificate.stopped_by in ("Ctrl-C", "SIGTERM"):
        raise KeyboardInterrupt


def prove_again(name: str, times: int, seconds: float, memory: float) -> None:
    """Raise unless proofs from some points of a proved front find the others, and nothing else."""
    stored = next((one for one in read_proofs() if one.instance == name and one.proved), None)
    if stored is None:
        print(f"{name}: there is no proved front.", flush=True)
        return
    problem = load(name)
    for seed in range(times):
        kept = np.flatnonzero(np.random.default_rng(seed).random(len(stored.solutions)) < 0.5)
        zeros = np.zeros(len(kept))
        known = Front(stored.objectives[kept], zeros, [stored.solutions[k] for k in kept], zeros.astype(np.int64))
        again = certify(problem, known, time_limit=seconds, memory_limit=memory)
        if again.proved and not np.array_equal(again.objectives, stored.objectives):
            raise CertificateError(f"{name}: the proof from points {kept.tolist()} ends with another front.")
        answer = "equal" if again.proved else "not finished"
        begin = time.process_time()
        n_verified = check_intervals(again, problem)
        spent = time.process_time() - begin
        n = len(stored.solutions)
        proof = f"{n - len(kept)} of {n} points removed, {answer}, {again.cpu_seconds:.1f} s"
        print(f"{name}: {proof}; {n_verified} intervals verified, {spent:.1f} s", flush=True)


def verify(certificate: Certificate) -> None:
    """Raise unless a certificate is right, where its instance is on this machine."""
    try:
        check_certificate(certificate, load(certificate.instance))
    except InstanceError as error:
        print(f"{certificate.instance} not verified: {error}")


def write_table(certificates: list[Certificate]) -> None:
    rows = []
    for certificate in certificates:
        name, values, optimum = certificate.instance, certificate.objectives, OPTIMA.get(certificate.instance)
        is_proved = certificate.status == PROVED
        agrees = "" if optimum is None or not is_proved else "yes" if round(values[0, 0], 2) == optimum else "NO"
        if agrees == "NO":
            raise CertificateError(f"{name}: the least f1 is {values[0, 0]:.2f}, the published optimum {optimum}.")
        rows.append(
            [
                name,
                f"{len(certificate.solutions[0]) + 1}" if certificate.solutions else "",
                _WORDS[certificate.status],
                f"{len(values)}",
                " - ".join(f"({a:.2f}, {b:.2f})" for a, b in values[[0, -1]]) if len(values) else "",
                "" if optimum is None else f"{optimum:.2f}",
                agrees,
                f"{certificate.labels:,}",
                f"{certificate.cpu_seconds:.1f}",
                f"{certificate.gap:.2%}" if not certificate.proved else "",
            ]
        )
    header = ["instance", "cities", "status", "points", "ends of the front", "published optimum of f1", "agrees"]
    header += ["labels", "CPU s", "gap"]
    n = sum(certificate.proved for certificate in certificates)
    notes = (
        f"{n} of {len(certificates)} fronts are proved complete. CPU time is without compiling, the search for a first "
        "front included, of all sittings of a proof that was continued; the gap is the share of the hypervolume that "
        "may be missing at most. Each certificate is a line of "
        "[proofs.jsonl](../../src/pareto_nrpa/routing/exact/proofs.jsonl), without the lines of its groups, which "
        "`pareto-nrpa certify NAME --json FILE` makes and `--check FILE` verifies."
    )
    carried = [certificate.instance for certificate in certificates if CARRIED in certificate.versions]
    if carried:
        notes += (
            f" Not proved again since windows close a billionth later than they say (their tours were checked; CPU "
            f"times are of an earlier machine): {', '.join(carried)}."
        )
    write("proofs", "All certificates", header, rows, command="certify.py", notes=notes)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
