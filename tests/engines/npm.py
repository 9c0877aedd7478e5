"""Packages of npm for the tests, in a directory of the build; Node.js 20 or newer with them.

Debian 12 has Node.js 18, whose npm brings a newer one: the package `node`. A set of packages is installed beside its
place and moved there when it is whole, so that what was interrupted counts for nothing; a set that is there is not
asked for again. Whatever keeps npm from installing one (no npm, no registry, no certificate, no answer in time) skips
the test: exit code 77."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

SKIPPED = 77
SETS = {
    "llama": {"node-llama-cpp": "3.21.1", "@node-llama-cpp/linux-x64": "3.21.1"},
    "xgrammar": {"@mlc-ai/web-xgrammar": "0.1.27"},
    "node": {"node": "22"},
}
SECONDS = 400  # for all that one test installs
START = time.monotonic()


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def recent(node):
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.match(r"v(\d+)\.", done.stdout)
    return done.returncode == 0 and bool(found) and int(found.group(1)) >= 20


def npm(where, arguments, what):
    """Runs npm; when it takes too long it is ended with what it started."""
    command = ["npm", "install", "--no-fund", "--no-audit", "--no-update-notifier", "--omit=optional", "--fetch-retries=1",
               "--fetch-timeout=60000", *arguments]
    try:
        process = subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    except OSError as error:
        skip(f"npm cannot be run: {error.strerror}")
    try:
        said, _ = process.communicate(timeout=max(1.0, SECONDS - (time.monotonic() - START)))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        skip(f"npm does not answer in time about {what}")
    if process.returncode:
        errors = [line for line in said.splitlines() if re.search("err(or)?\\b", line, re.IGNORECASE)]
        skip(f"npm cannot install {what}: " + "\n".join(errors[:8] or said.splitlines()[-8:]))


def install(packages, name, whole, *arguments):
    """The directory of a set of packages. `whole` says what it lacks, or nothing."""
    place = pathlib.Path(packages) / name
    wanted = json.dumps(SETS[name], sort_keys=True)
    stamp = "whole.json"
    if (place / stamp).exists() and (place / stamp).read_text() == wanted:
        return place
    if not shutil.which("npm"):
        skip("npm is not installed")
    what = " ".join(f"{package}@{version}" for package, version in SETS[name].items())
    new = place.with_name(name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    (new / "package.json").write_text('{"private": true}\n')
    npm(new, [*arguments, *what.split()], what)
    lacks = whole(new)
    if lacks:
        skip(f"npm says that it installed {what}, but {lacks}")
    (new / stamp).write_text(wanted)
    shutil.rmtree(place, ignore_errors=True)
    new.rename(place)
    print(f"installed {what}")
    return place


def packages(where, name):
    """The directory that has a set of packages. Their own scripts would build from source what is not there, so they
    are not run."""
    def whole(new):
        lacks = [package for package in SETS[name] if not (new / "node_modules" / package / "package.json").exists()]
        return f"there is no {' '.join(lacks)}" if lacks else None
    return str(install(where, name, whole, "--ignore-scripts"))


def node(where):
    """A Node.js that is new enough, its path."""
    found = shutil.which("node")
    if found and recent(found):
        return found
    program = "node_modules/node/bin/node"
    own = install(where, "node", lambda new: None if recent(str(new / program)) else "its node does not run") / program
    if not recent(str(own)):
        skip(f"{own} does not run; remove its directory to have it installed again")
    return str(own)


def begin(which, **numbers):
    """What the command line of a test says (NESTOR ROOT PACKAGES and --seed, and the numbers that have another default), the packages of a set, and node."""
    parser = argparse.ArgumentParser()
    parser.add_argument("nestor")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("packages")
    for name, value in {"seed": 1, **numbers}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    return args, packages(args.packages, which), node(args.packages)
