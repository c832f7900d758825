"""A second process for programs that might never end: compiled code cannot be interrupted."""

import select
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent

_LOOP = """
import sys
for line in sys.stdin:
    try:
        exec(eval(line), {})
        print("done", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace(chr(10), " "), flush=True)
"""


class Apart:
    """Runs programs one after the other in the same process, and in a new one after a program that did not end."""

    def __init__(self):
        self.process = None

    def run(self, program, timeout=180):
        """Return "done", or what was raised, or that it never ends."""
        if self.process is None:
            command = [sys.executable, "-c", _LOOP]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self.process.stdin.write(f"{program!r}\n")
        self.process.stdin.flush()
        if select.select([self.process.stdout], [], [], timeout)[0]:
            return self.process.stdout.readline().rstrip("\n")
        self.close()
        return "never ends"

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
