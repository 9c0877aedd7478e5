"""Rewards from Nestor's grader, for Python hosts. The standard library alone.

    grader = Grader("tasks.jsonl", "key.jsonl")        # the C library, in this process; workers of its own
    grader = Grader(url="http://127.0.0.1:8080")       # a `nestor bench serve` that is running
    result = grader.grade("task-id", "the model's text")
    result["score"], result["passed"], result["outcome"], result["sub"]

A result is what `nestor bench grade` writes. The same text gives the same result. Any thread may call.
"""

import ctypes
import ctypes.util
import glob
import http.client
import json
import os
import queue
import threading
import urllib.parse

__all__ = ["Grader", "GraderError", "from_environment", "reward", "text_of"]


class GraderError(RuntimeError):
    """The grader itself could not be used: never a verdict on an answer."""


def text_of(completion):
    """The text of a completion: a string, a message, or a list of messages (the last of the assistant counts)."""
    if completion is None:
        return ""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, dict):
        return text_of(completion.get("content"))
    if isinstance(completion, (list, tuple)):
        parts = [p for p in completion if isinstance(p, dict)]
        if parts and all("role" not in p for p in parts):  # parts of one message: {"type": "text", "text": …}
            return "".join(p.get("text", "") for p in parts)
        for message in reversed(parts):
            if message.get("role") == "assistant":
                return text_of(message)
        return text_of(parts[-1]) if parts else ""
    content = getattr(completion, "content", None)
    return text_of(content) if content is not None else str(completion)


def reward(result, partial=1.0):
    """One number of a result: 1 where it passed, else `partial` times the score (0: only exact answers count).
    None where nothing is known of the answer (infra_error): it is no fault of the model."""
    if result["outcome"] == "infra_error":
        return None
    return 1.0 if result["passed"] else partial * min(result["score"], 1.0)


def _sample(number, task_id, completion, finish_reason=None, sample_id=None):
    sample_id = str(number if sample_id is None else sample_id)
    sample = {"schema": "nestor.sample/1", "task_id": task_id, "sample_id": sample_id, "completion": text_of(completion)}
    if finish_reason:
        sample["finish_reason"] = finish_reason
    # A lone surrogate is no text: it is sent as the replacement character.
    return json.dumps(sample, ensure_ascii=False).encode("utf-8", "replace")


class _Http:
    def __init__(self, url):
        self.parts = urllib.parse.urlsplit(url)
        if self.parts.scheme != "http" or not self.parts.hostname:
            raise GraderError(f"not the address of a grader: {url}")
        self.idle = queue.SimpleQueue()  # connections that nobody uses now

    def _connection(self, fresh):
        try:
            if not fresh:
                return self.idle.get_nowait()
        except queue.Empty:
            pass
        return http.client.HTTPConnection(self.parts.hostname, self.parts.port or 80, timeout=600)

    def grade_lines(self, lines):
        body = b"\n".join(lines) + b"\n"
        for attempt in (0, 1):  # a connection that was kept too long is opened once more
            connection = self._connection(fresh=attempt == 1)
            try:
                connection.request("POST", "/grade", body, {"Content-Type": "application/x-ndjson"})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if attempt:
                    raise GraderError(f"the grader at {self.parts.netloc} does not answer: {error}") from error
                continue
            self.idle.put(connection)
            if answer.status != 200:
                raise GraderError(f"the grader answers {answer.status}: {text[:200].decode('utf-8', 'replace')}")
            return text.split(b"\n")

    def close(self):
        while True:
            try:
                self.idle.get_nowait().close()
            except queue.Empty:
                return


class _Library:
    """libnestor-grade by ctypes; see include/nestor/grade.h."""

    def __init__(self, tasks, key, workers, path):
        found = _find_library(path)
        try:
            self.library = ctypes.CDLL(found)
        except OSError as error:
            raise GraderError(f"cannot load libnestor-grade ({error}): build Nestor, or set NESTOR_GRADE_LIBRARY to the path of "
                              "libnestor-grade.so, or NESTOR_GRADE_URL (in code, url=) to the address of a `nestor bench serve`") from error
        lib = self.library
        lib.nst_grader_new.restype = ctypes.c_void_p
        lib.nst_grader_new.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
        lib.nst_grader_grade.restype = ctypes.c_void_p
        lib.nst_grader_grade.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        lib.nst_grader_free_text.argtypes = [ctypes.c_void_p]
        lib.nst_grader_free.argtypes = [ctypes.c_void_p]
        error = ctypes.c_void_p()
        self.grader = lib.nst_grader_new(os.fsencode(tasks), os.fsencode(key), workers, ctypes.byref(error))
        if not self.grader:
            raise GraderError(self._text(error.value) if error.value else "the grader cannot be started")

    def _text(self, pointer):
        text = ctypes.string_at(pointer).decode("utf-8")
        self.library.nst_grader_free_text(pointer)
        return text

    def grade_lines(self, lines):
        body = b"\n".join(lines) + b"\n"
        return self._text(self.library.nst_grader_grade(self.grader, body, len(body))).split("\n")

    def close(self):
        if self.grader:
            self.library.nst_grader_free(self.grader)
            self.grader = None


def _find_library(path):
    """Where one says; beside an installed file; in a build tree of the sources, of which `release` goes first; where the system looks."""
    path = path or os.environ.get("NESTOR_GRADE_LIBRARY")
    if path:
        return path
    name = "libnestor-grade.so"
    above = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    places = [os.path.join(above, name), os.path.join(above, "..", "lib", name), os.path.join(above, "build", "release", "lib", name)]
    places += sorted(glob.glob(os.path.join(glob.escape(above), "build", "*", "lib", name)))
    found = next((place for place in places if os.path.exists(place)), None)
    return found or ctypes.util.find_library("nestor-grade") or name


class Grader:
    """Judges answers to the tasks of a file, by the C library or by a server. Close it, or use it in a `with`."""

    def __init__(self, tasks=None, key=None, *, url=None, workers=0, library=None):
        if url is None and not (tasks and key):
            raise GraderError("a grader wants tasks and key, or the url of a server")
        self.tasks_path = tasks
        self._back = _Http(url) if url else _Library(tasks, key, workers, library)

    def grade(self, task_id, completion, finish_reason=None, sample_id=None):
        """The result of one answer (text, message or messages)."""
        return self.grade_many([(task_id, completion, finish_reason, sample_id)])[0]

    def grade_many(self, samples):
        """Results of (task_id, completion[, finish_reason[, sample_id]]), in order."""
        samples = list(samples)
        if not samples:
            return []
        lines = [_sample(i, *sample) for i, sample in enumerate(samples)]
        results = [json.loads(line) for line in self._back.grade_lines(lines) if line.strip()]
        if len(results) != len(samples):
            raise GraderError(f"{len(samples)} answers were sent and {len(results)} results came back")
        for result in results:
            if result.get("stage") == "sample":  # it was not judged: an unknown task, say
                raise GraderError(result["diagnostics"][0]["message"])
        return results

    def tasks(self, path=None):
        """The tasks of a file, as dictionaries."""
        with open(path or self.tasks_path, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]

    def close(self):
        self._back.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


_shared = None
_shared_lock = threading.Lock()


def from_environment():
    """The grader of this process, made once: of NESTOR_GRADE_URL, else of NESTOR_TASKS and NESTOR_KEY. For hosts that call a
    function by name and pass it nothing of yours."""
    global _shared
    with _shared_lock:
        if _shared is None:
            url = os.environ.get("NESTOR_GRADE_URL")
            tasks, key = os.environ.get("NESTOR_TASKS"), os.environ.get("NESTOR_KEY")
            if not url and not (tasks and key):
                raise GraderError("set NESTOR_GRADE_URL, or NESTOR_TASKS and NESTOR_KEY")
            _shared = Grader(tasks, key, url=url)
        return _shared
