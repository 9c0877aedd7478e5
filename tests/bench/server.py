"""A model server on loopback that does what a script says: the faults that real ones have, one at a time.

Server(script) listens on a free port until it is closed. A script is a function of one Request that returns a Reply; request.task is the first word like
"T17" of the last message, request.nth counts the requests for that task from 0. All requests are kept, in order, in server.requests.
"""
import collections
import http.server
import json
import re
import socket
import struct
import threading
import time


class Request:
    def __init__(self, path, headers, raw, nth, task):
        self.path, self.headers, self.raw, self.nth, self.task = path, headers, raw, nth, task
        self.body = json.loads(raw)
        self.at = time.monotonic()

    def last(self):
        return self.body["messages"][-1]["content"]


class Reply:
    """status, headers and bytes; fault: "reset", "half" (of what was promised), "close" (without a length), "hang" (for `seconds`)."""

    def __init__(self, body=b"", status=200, headers=None, fault=None, seconds=0.0):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers, self.fault, self.seconds = status, headers or {}, fault, seconds


def chat(text, finish="stop", usage=(7, 3), n=1, **message):
    """An answer in the openai dialect; text may be a list of n texts."""
    texts = text if isinstance(text, list) else [text] * n
    choices = [{"index": i, "finish_reason": finish, "message": {"role": "assistant", "content": t, **message}} for i, t in enumerate(texts)]
    return Reply({"id": "x", "object": "chat.completion", "model": "served-model", "choices": choices,
                  "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]}})


def claude(blocks, stop="end_turn", usage=(7, 3)):
    """An answer in the anthropic dialect."""
    blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
    return Reply({"type": "message", "role": "assistant", "model": "served-model", "content": blocks, "stop_reason": stop,
                  "usage": {"input_tokens": usage[0], "output_tokens": usage[1]}})


def refuse(status, message, param=None, code=None, headers=None):
    return Reply({"error": {"message": message, "param": param, "code": code, "type": "invalid_request_error"}}, status, headers)


class Server:
    def __init__(self, script, port=0):
        self.script, self.requests, self.counts = script, [], collections.Counter()
        self.lock = threading.Lock()
        self.under_way = self.most_under_way = 0
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with owner.lock:
                    found = re.findall(r"\bT\d+\b", json.dumps(json.loads(raw)["messages"]))
                    task = found[-1] if found else None
                    request = Request(self.path, dict(self.headers), raw, owner.counts[task], task)
                    owner.counts[task] += 1
                    owner.requests.append(request)
                    owner.under_way += 1
                    owner.most_under_way = max(owner.most_under_way, owner.under_way)
                try:
                    self.answer(owner.script(request))
                except (BrokenPipeError, ConnectionResetError):
                    pass
                finally:
                    with owner.lock:
                        owner.under_way -= 1

            def answer(self, reply):
                if reply.seconds:
                    time.sleep(reply.seconds)
                if reply.fault == "hang":
                    self.close_connection = True
                    return
                if reply.fault == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.fault != "close":
                    self.send_header("Content-Length", str(len(reply.body)))
                else:
                    self.close_connection = True
                    self.send_header("Connection", "close")
                self.end_headers()
                if reply.fault == "half":
                    self.wfile.write(reply.body[: len(reply.body) // 2])
                    self.close_connection = True
                else:
                    self.wfile.write(reply.body)

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *_):
                pass

        self.listener = Listener(("127.0.0.1", port), Handler)
        self.port = self.listener.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self.listener.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
