"""An executor whose processes can be killed: one that takes too long or dies is replaced, and the others continue.

The standard library's pool has no limit per task, and breaks for all tasks when one of its processes dies.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import threading
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import nullcontext
from multiprocessing import spawn
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, NamedTuple

from .processes import end_with_parent, kill_family, lead_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

_STARTED = "started"
_ATTEMPTS = 2
_UNGUARDED = 'a script needs its calls under if __name__ == "__main__":, as processes import it'
# One worker per core: the libraries of each must not start as many threads as there are cores.
_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_environment_lock, _main_lock = threading.Lock(), threading.Lock()


class WorkerDied(RuntimeError):
    """The process of a task died, and so did that of the second attempt."""


class TaskOverdue(TimeoutError):
    """A task exceeded its time limit."""

    def __init__(self, time_limit: float) -> None:
        super().__init__(f"the task took longer than {time_limit:g} s")
        self.time_limit = time_limit


class _Task(NamedTuple):
    future: Future[Any]
    message: bytes  # function and arguments, pickled


class ProcessWorkers(Executor):
    """Processes with one task at a time each.

    Parameters
    ----------
    n
        How many processes.
    time_limit
        Seconds after which the process of a task is killed and its future gets `TaskOverdue`. Starting a process and
        importing modules is not counted.
    imports_main
        Whether processes import the running script, which is required if tasks need its definitions.

    A task whose process dies is tried once more, as the cause may be another one; then its future gets `WorkerDied`.
    """

    def __init__(self, n: int, *, time_limit: float | None = None, imports_main: bool = True) -> None:
        self.time_limit = time_limit
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._workers = [_Worker(imports_main) for _ in range(n)]
        self._threads = [threading.Thread(target=self._serve, args=(w,), daemon=True) for w in self._workers]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a task; an error of pickling raises here."""
        future: Future[Any] = Future()
        self._tasks.put(_Task(future, bytes(ForkingPickler.dumps((fn, args, kwargs)))))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when all tasks are done, or all that have started."""
        if cancel_futures:
            self._cancel_waiting()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill_workers(self) -> None:
        """Kill all processes, including running tasks."""
        self._cancel_waiting()
        for worker in self._workers:
            worker.end()
        self.shutdown()

    def _cancel_waiting(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None:
                    task.future.cancel()

    def _serve(self, worker: _Worker) -> None:
        """Send tasks to one process, wait for it and replace it; the target of a thread."""
        if hasattr(signal, "pthread_sigmask"):  # inherited by the processes, which must not react to Ctrl-C
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while (task := self._tasks.get()) is not None:
            if not task.future.set_running_or_notify_cancel():
                continue
            try:
                task.future.set_result(worker.carry_out(task.message, self.time_limit))
            except BaseException as error:
                task.future.set_exception(error)
        worker.close()


class _Worker:
    """A process and the pipe to it; started when first needed, and again after its end."""

    def __init__(self, imports_main: bool) -> None:
        self._imports_main = imports_main
        self._process: Any = None
        self._pipe: Connection[Any, Any] | None = None
        self._lock = threading.Lock()  # between the thread that starts processes and the one that kills all
        self._ended = False

    def carry_out(self, message: bytes, time_limit: float | None) -> Any:
        """Return the result of the task in a message."""
        began = False
        for _ in range(_ATTEMPTS):
            pipe = self._ready()
            try:
                pipe.send_bytes(message)
                if pipe.recv() == _STARTED:
                    began = True
                    if not pipe.poll(time_limit):
                        raise TaskOverdue(time_limit or 0.0)
                return self._answer(pipe)
            except TaskOverdue:
                self.close()
                raise
            except (EOFError, OSError):
                code = self.close()
        if not began:
            raise BrokenExecutor(
                f"a worker process ended before it could begin (exit code {code}); its message is above; {_UNGUARDED}."
            )
        raise WorkerDied(f"its worker process died twice ({_manner(code)})")

    @staticmethod
    def _answer(pipe: Connection[Any, Any]) -> Any:
        kind, value = pipe.recv()
        if kind == "result":
            return value
        raise (BrokenExecutor if kind == "unusable" else RuntimeError)(value)

    def _ready(self) -> Connection[Any, Any]:
        """Return the pipe to a living process."""
        with self._lock:
            if self._ended:
                raise BrokenExecutor("the workers were ended")
            if self._pipe is None:
                # Spawned, not forked: a process then has no threads and locks of its parent.
                context = multiprocessing.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(target=_work, args=(theirs,))
                try:
                    with _single_threaded(), nullcontext() if self._imports_main else _without_main(self._process):
                        self._process.start()
                except Exception as error:  # multiprocessing refuses while a script is being imported
                    self._pipe = None
                    reason = _UNGUARDED if "bootstrapping" in str(error) else str(error)
                    raise BrokenExecutor(f"no worker process could be started: {reason}") from error
                finally:
                    theirs.close()  # else the end of the process would not be detected
            return self._pipe

    def close(self) -> int | None:
        """End the process if it is running, and drop it; returns its exit code."""
        with self._lock:
            if self._pipe is None:
                return None
            self._kill()
            self._process.join()
            self._pipe.close()
            self._pipe = None
            code: int | None = self._process.exitcode
            return code

    def end(self) -> None:
        """Kill the process; the thread that waits for it closes the pipe."""
        with self._lock:
            self._ended = True
            if self._pipe is not None:
                self._kill()

    def _kill(self) -> None:
        kill_family(self._process.pid)
        self._process.kill()


def _manner(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes started in the block compute with one thread each, unless the user has set another number."""
    with _environment_lock:
        added = [name for name in _THREAD_LIMITS if name not in os.environ]
        os.environ.update(dict.fromkeys(added, "1"))
        try:
            yield
        finally:
            for name in added:
                del os.environ[name]


@contextlib.contextmanager
def _without_main(process: Any) -> Iterator[None]:
    """Let a process started in the block not import the running script.

    The script then needs no `if __name__ == "__main__":`. The standard library has no option for this.
    """
    with _main_lock:
        usual = spawn.get_preparation_data

        def prepared(name: str) -> dict[str, Any]:
            data = usual(name)
            if name == process.name:
                data = {key: value for key, value in data.items() if not key.startswith("init_main")}
            return data

        spawn.get_preparation_data = prepared
        try:
            yield
        finally:
            spawn.get_preparation_data = usual


def _work(pipe: Connection[Any, Any]) -> None:
    """Execute tasks from a pipe until it is closed; the target of a process."""
    lead_group()
    end_with_parent()
    while True:
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return
        try:
            function, args, kwargs = pickle.loads(message)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            pipe.send(None)
            way_out = "its class must be in a file that can be imported, not in a notebook"
            pipe.send(("unusable", f"a worker process cannot load its task ({reason}); {way_out}"))
            continue
        pipe.send(_STARTED)
        try:
            answer = ("result", function(*args, **kwargs))
        except Exception as error:
            answer = ("error", f"{type(error).__name__}: {error}")
        pipe.send(answer)
