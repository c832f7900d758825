"""A server on this machine with small files that are registered as the official ones."""

import hashlib
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from pareto_nrpa.routing import benchmarks as data

FILES = {
    "SolomonTSPTW/toy.1.txt": b"2\n0 0 0 0 0 100 0\n1 3 4 0 0 100 10\n",
    "SolomonTSPTW/toy.2.txt": b"2\n0 0 0 0 0 100 0\n1 6 8 0 0 100 10\n",
    "SolomonTSPTW/nadirs.json": b"{}",
}


class Server:
    """Serves a folder and remembers the requests."""

    def __init__(self, folder):
        self.folder, self.requests = folder, []
        requests = self.requests

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self):
                requests.append(self.path)
                super().do_GET()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def official_server(folder, monkeypatch):
    """Serve FILES from a folder; while it runs, they are the official files."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(data, "registry", lambda: dict(sums))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # pooch waits before it tries again
    server = Server(folder)
    try:
        yield server
    finally:
        server.close()
