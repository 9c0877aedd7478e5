"""Packages of npm for the tests, in a directory of the build; Node.js 20 or newer with them.

Debian 12 has Node.js 18, whose npm brings a newer one: the package `node`. What is there is not asked for again.
Where something cannot be had the test is skipped (exit code 77)."""
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
PACKAGES = {"node-llama-cpp": "3.21.1", "@node-llama-cpp/linux-x64": "3.21.1", "@mlc-ai/web-xgrammar": "0.1.27"}
NODE = "22"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def recent(node):
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60)
    except OSError:
        return False
    found = re.match(r"v(\d+)\.", done.stdout)
    return bool(found) and int(found.group(1)) >= 20


def installed(where, package, version):
    file = where / "node_modules" / package / "package.json"
    return file.exists() and (not version or f'"version": "{version}"' in file.read_text())


def install(where, packages, *options):
    missing = [f"{name}@{version}" for name, version in packages.items() if not installed(where, name, version)]
    if not missing:
        return
    if not shutil.which("npm"):
        skip("npm is not installed")
    where.mkdir(parents=True, exist_ok=True)
    (where / "package.json").exists() or (where / "package.json").write_text('{"private": true}\n')
    try:
        done = subprocess.run(["npm", "install", "--no-fund", "--no-audit", "--omit=optional", "--fetch-retries=1",
                               "--fetch-timeout=60000", *options, *missing], cwd=where, capture_output=True, text=True,
                              timeout=400)
    except subprocess.TimeoutExpired:
        skip("npm does not answer")
    if done.returncode:
        skip(f"npm cannot install {' '.join(missing)}: {done.stderr.strip()[-600:]}")
    print("installed " + " ".join(missing))


def packages(where, *names):
    """Installs packages. Their own scripts would build from source what is not there, so they are not run."""
    install(pathlib.Path(where), {name: PACKAGES[name] for name in names}, "--ignore-scripts")


def node(where):
    """A Node.js that is new enough, its path."""
    found = shutil.which("node")
    if found and recent(found):
        return found
    where = pathlib.Path(where) / "node"  # of its own: other packages do without scripts
    own = where / "node_modules/node/bin/node"
    if not own.exists():
        install(where, {"node": NODE})
    if not recent(str(own)):
        skip("there is no Node.js 20 or newer")
    return str(own)
