#!/usr/bin/env python3
"""npm.py where npm has troubles: each skips the test that wants packages, and what npm left half done is not used.

In the place of npm and node there are shell scripts that do what those do."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PUT = 'put() { mkdir -p "node_modules/$1" && echo "{}" > "node_modules/$1/package.json"; }\n'
GOOD = PUT + "put node-llama-cpp; put @node-llama-cpp/linux-x64\n"
NODE = ('mkdir -p node_modules/node/bin && printf \'#!/bin/sh\\necho v22.1.0\\n\' > node_modules/node/bin/node '
        '&& chmod +x node_modules/node/bin/node\n')


def runs(process):
    """Not ended, and not waiting to be cleared away either."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


class Troubles(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="nestor-npm-")
        self.dir = pathlib.Path(self.directory.name)
        (self.dir / "bin").mkdir()
        self.program("node", "echo v18.20.4")

    def tearDown(self):
        self.directory.cleanup()

    def program(self, name, body):
        path = self.dir / "bin" / name
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)

    def ask(self, what, code=0, seconds=400):
        """Runs an expression in npm.py; its output."""
        script = f"import npm; npm.SECONDS = {seconds}; print({what})"
        done = subprocess.run([sys.executable, "-c", script], cwd=HERE, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PATH": f"{self.dir / 'bin'}:/usr/bin:/bin", "PACKAGES": str(self.dir / "npm")})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        if code:
            self.assertTrue(done.stdout.startswith("skipped: "), done.stdout)
        return done.stdout

    def llama(self, code=0, **more):
        return self.ask("npm.packages(__import__('os').environ['PACKAGES'], 'llama')", code, **more)

    def node(self, code=0, **more):
        return self.ask("npm.node(__import__('os').environ['PACKAGES'])", code, **more)

    def test_what_is_installed_is_not_asked_for_again(self):
        self.program("npm", GOOD)
        self.assertIn("installed node-llama-cpp@", self.llama())
        self.program("npm", "exit 1")
        self.assertEqual(self.llama(), f"{self.dir / 'npm/llama'}\n")

    def test_a_registry_that_refuses(self):
        self.program("npm", "echo npm ERR! self-signed certificate in certificate chain >&2; exit 1")
        self.assertIn("self-signed certificate", self.llama(77))

    def test_an_npm_that_does_not_run(self):
        (self.dir / "bin/npm").write_bytes(b"\x7fELF no program")
        (self.dir / "bin/npm").chmod(0o755)
        self.llama(77)
        self.program("npm", "kill -9 $$")
        self.llama(77)

    def test_a_registry_that_does_not_answer(self):
        self.program("npm", f"{PUT}put node-llama-cpp; sleep 1000 & echo $! > {self.dir}/started; wait")
        self.assertIn("in time", self.llama(77, seconds=3))
        process, patience = int((self.dir / "started").read_text()), 200
        while runs(process) and patience:
            time.sleep(0.1)
            patience -= 1
        self.assertTrue(patience, "what npm started goes on in the background")
        self.program("npm", GOOD)
        self.llama()

    def test_what_is_half_installed_is_not_used(self):
        self.program("npm", PUT + "put node-llama-cpp; exit 1")
        self.llama(77)
        self.program("npm", PUT + "put node-llama-cpp; exit 0")
        self.assertIn("there is no @node-llama-cpp/linux-x64", self.llama(77))
        self.program("npm", f"[ ! -e node_modules ] || exit 1\n{GOOD}")
        self.llama()

    def test_other_versions_are_installed_anew(self):
        self.program("npm", GOOD)
        self.llama()
        (self.dir / "npm/llama/whole.json").write_text('{"node-llama-cpp": "1.0.0"}')
        self.program("npm", GOOD + f"echo again > {self.dir}/again")
        self.llama()
        self.assertTrue((self.dir / "again").exists())

    def test_node_that_is_too_old_brings_a_newer_one(self):
        self.program("npm", NODE)
        self.assertTrue(self.node().endswith(f"{self.dir / 'npm/node/node_modules/node/bin/node'}\n"))
        self.program("npm", "exit 1")
        self.assertEqual(self.node(), f"{self.dir / 'npm/node/node_modules/node/bin/node'}\n")

    def test_node_that_cannot_be_had(self):
        for script in ("exit 1", "exit 0", NODE.replace("v22", "v18"), NODE.replace("echo", "exit 1; echo")):
            self.program("npm", script)
            self.node(77)

    def test_node_that_is_new_enough_is_taken(self):
        self.program("node", "echo v20.9.0")
        self.program("npm", "exit 1")
        self.assertEqual(self.node(), f"{self.dir / 'bin/node'}\n")


if __name__ == "__main__":
    unittest.main(verbosity=1)
