"""A model with random weights, served on loopback by server.js."""
import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Server:
    """In a `with`: the model is made in `scratch`, the server runs."""

    def __init__(self, node, packages, scratch, seed):
        self.node, self.packages, self.model, self.seed = node, packages, str(scratch / "noise.gguf"), seed

    def __enter__(self):
        subprocess.run([sys.executable, str(HERE / "make_gguf.py"), self.model, "--seed", str(self.seed)], check=True)
        self.process = subprocess.Popen([self.node, str(HERE / "server.js"), self.packages, self.model],
                                        stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip()
        if not self.port:
            self.end()
            raise SystemExit("the server does not start")
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.kill()  # busy in native code it would not hear a request to stop
        self.process.wait()

    def ask(self, body, timeout=300):
        """Status and answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + "/chat/completions", data, {"content-type": "application/json"})
        try:
            with DIRECT.open(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


def parses(nestor, text):
    return subprocess.run([nestor, "fmt", "-"], input=text.encode(), capture_output=True).returncode == 0


def environment():
    """Without proxies, which are not for loopback, and without keys of servers."""
    return {name: value for name, value in os.environ.items()
            if "proxy" not in name.lower() and not name.endswith("_API_KEY")}
