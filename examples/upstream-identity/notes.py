"""An API with notes of each user. Who calls is in headers of the gateway, which alone can reach it."""
import json
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

notes = defaultdict(list)  # user id -> texts


class Notes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        user, client = self.headers["X-Auth-Subject"], self.headers["X-Auth-Client"]
        if user is None:  # a program for itself: numbers, but nobody's notes
            return self.say(200, {"client": client, "users": len(notes)})
        self.say(200, {"user": user, "through": client, "notes": notes[user]})

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        # The guard has checked what the path needs. What only the API can tell, it checks itself.
        if "notes:write" not in self.headers["X-Auth-Scopes"].split() or "X-Auth-Subject" not in self.headers:
            return self.say(403, {"message": "the token may not write notes"})
        notes[self.headers["X-Auth-Subject"]].append(text)
        self.say(201, {"written": text})

    def say(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", 8083), Notes).serve_forever()
