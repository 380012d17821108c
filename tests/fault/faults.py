"""What can go wrong with an answer. Each fault is chosen by chance, concerns one place of a question, and says what it is."""
import gzip
import json
import threading
import time

from serving import response

# What no terminal may see; and much of it.
HOSTILE = ["\x1b[31mred\x1b]0;title\x07", "\x9b31m", "\u202eright to left", "\u2028line", "\x7f\x08", "\ud800", "\r\nHTTP/1.1 200 OK\r\n\r\n",
           "x" * 100000, "<html><script>", "\x00nul", "%s%n%x", "${HOME}$(id)`id`", "\ufeff\u200f\u2066"]
ODD_HEADERS = [("Content-Type", "image/png"), ("X", "y" * 60000), ("X", "\x1b[31m"), ("Set-Cookie", "a=b"), ("Connection", "close"),
               ("Content-Encoding", "identity"), ("Date", "nonsense"), ("Retry-After", "-1"), ("Link", "<x>; rel=next")]
RETRY_AFTER = [None, "0", "1", "2", "-1", "x", "1e9", "999999999999999999999", "", "Thu, 01 Jan 1970 00:00:00 GMT",
               "Fri, 31 Dec 9999 23:59:59 GMT", "\x1b[31m"]


class Fault:
    """One of them. `kind` is counted, `what` says it; `times`: so many requests of its place, then it passes (None: never)."""

    def __init__(self, kind, what, place, times, act, connection=None):
        self.kind, self.what, self.place, self.left, self.act, self.connection = kind, what, place, times, act, connection
        self.times = times
        self.elsewhere = ""
        self.another = False  # what it says is another cluster, in the API's own words
        self.lock = threading.Lock()

    def __str__(self):
        where = "" if self.connection else f" at page {self.place[1] + 1} of {self.place[0]}"
        return f"{self.kind}: {self.what}{where}" + (f" {self.times} times" if self.times else "")

    def take(self):
        with self.lock:
            if self.left is None:
                return True
            self.left -= 1
            return self.left >= 0

    def concerns(self, path, page):
        return self.connection is None and (path, page) == self.place and self.take()

    def at_connection(self, plain, stopped):
        """Whether it ended the connection before a word of HTTP."""
        if self.connection is None or not self.take():
            return False
        self.connection(plain, stopped)
        return True

    def answer(self, peer, request, body, headers):
        """Whether the connection may have a further request."""
        return bool(self.act(self, peer, request, body, headers))


def choose(chance, question):
    """A fault for a case."""
    place = chance.choice(question.places())
    times = chance.choice([1, 1, 2, None, None])
    kind, make = chance.choices(*zip(*[((name, one), weight) for name, one, weight in KINDS]))[0]
    what, act, connection = make(chance, question)
    return Fault(kind, what, place, times, act, connection)


# ---- Connections and bytes -------------------------------------------------------------------

def connection(chance, question):
    def closed(plain, stopped):
        plain.close()

    def garbage(plain, stopped):
        plain.sendall(bytes(chance.randrange(256) for _ in range(300)))
        stopped.wait(5)

    def silent(plain, stopped):
        stopped.wait(20)

    what, act = chance.choice([("closed at once", closed), ("garbage", garbage), ("silence", silent)])
    return what, None, act


def cut(chance, question):
    share, reset, framed = chance.random(), chance.random() < 0.4, chance.random() < 0.7

    def act(fault, peer, request, body, headers):
        size = int(share * len(body))
        # A body whose end is the connection's cannot be told from a whole one, but by its own end.
        whole = response(200, body, headers) if framed else b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + lines(headers) + b"\r\n" + body
        peer.write(whole[:len(whole) - len(body) + size])
        if reset:
            peer.pause(0.02)
            peer.reset()
        return False
    return f"cut after {share:.3f} of it" + (", by a reset" if reset else "") + ("" if framed else ", without a length"), act, None


def in_the_head(chance, question):
    size = chance.randrange(60)

    def act(fault, peer, request, body, headers):
        peer.write(response(200, body, headers)[:size])
        return False
    return f"closed after {size} bytes", act, None


def wrong_length(chance, question):
    off = chance.choice([-200, -2, -1, 1, 2, 100, 10**6, 10**12, 2**63, 2**64, 2**70])
    form = chance.choice(["number", "twice", "with chunks"])

    def act(fault, peer, request, body, headers):
        length = f"Content-Length: {max(0, len(body) + off)}\r\n"
        if form == "twice":
            length += f"Content-Length: {len(body)}\r\n"
        if form == "with chunks":
            length += "Transfer-Encoding: chunked\r\n"
            body = chunks(body, [500])
        peer.write(b"HTTP/1.1 200 OK\r\n" + length.encode() + lines(headers) + b"\r\n" + body)
        return False
    return f"a length that is {off:+d} off, {form}", act, None


def chunking(chance, question):
    sizes = [chance.randrange(1, 3000) for _ in range(5)]
    wrong = chance.choice([None, "cut", "no end", "negative", "huge", "no size", "no line end", "long trailer", "extension"])

    def act(fault, peer, request, body, headers):
        text = chunks(body, sizes)
        if wrong == "cut":
            text = text[:len(text) * 2 // 3]
        if wrong == "no end":
            text = text[:-5]
        if wrong in ("negative", "huge", "no size"):
            text = {"negative": b"-5", "huge": b"fffffffffffffffff", "no size": b"xyz"}[wrong] + b"\r\n" + text
        if wrong == "no line end":
            text = text.replace(b"\r\n", b"XX", 2)
        if wrong == "long trailer":
            text = text[:-2] + b"X: y\r\n" * 2000 + b"\r\n"
        if wrong == "extension":
            text = text.replace(b"\r\n", b";name=value\r\n", 1)
        peer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + lines(headers) + b"\r\n" + text)
        return wrong in (None, "extension")
    return f"chunks, {wrong or 'and right ones'}", act, None


def packing(chance, question):
    wrong = chance.choice([None, "members", "cut", "flipped", "not packed", "twice", "bomb", "tail", "deflate", "br"])
    at, bit = chance.random(), chance.randrange(8)

    def act(fault, peer, request, body, headers):
        text = gzip.compress(body, 6)
        if wrong == "members":
            text = gzip.compress(body[:50]) + gzip.compress(body[50:])
        if wrong == "cut":
            text = text[:int(at * len(text))]
        if wrong == "flipped":
            # Not of the head, where a time or a name says nothing.
            place = 10 + int(at * (len(text) - 10))
            text = text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1:]
        if wrong == "not packed":
            text = body
        if wrong == "twice":
            text = gzip.compress(text)
        if wrong == "bomb":
            text = BOMB
        if wrong == "tail":
            text += b"nonsense"
        coding = wrong if wrong in ("deflate", "br") else "gzip"
        peer.write(response(200, text, [*headers, ("Content-Encoding", coding)]))
        return True
    return f"gzip, {wrong or 'and right'}", act, None


def slow(chance, question):
    pause, size = chance.choice([(0.001, 400), (0.01, 2000), (0.05, 10), (0.3, 1), (2, 1000)])

    def act(fault, peer, request, body, headers):
        whole = response(200, body, headers)
        for at in range(0, len(whole), size):
            peer.write(whole[at:at + size])
            if not peer.pause(pause):
                return False
        return True
    return f"{size} bytes each {pause} s", act, None


def silent(chance, question):
    after = chance.choice(["the request", "the head", "half"])

    def act(fault, peer, request, body, headers):
        whole = response(200, body, headers)
        size = {"the request": 0, "the head": len(whole) - len(body), "half": len(whole) - len(body) // 2}[after]
        peer.write(whole[:size])
        peer.pause(20)
        return False
    return f"silence after {after}", act, None


def endless(chance, question):
    what = chance.choice(["blanks", "text", "brackets", "nulls", "items", "interim", "head", "headers", "gzip", "chunks of one byte"])

    def act(fault, peer, request, body, headers):
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + lines(headers)
        piece = {"blanks": b" " * 65536, "text": b"x" * 65536, "brackets": b"[" * 65536, "nulls": b"\0" * 65536, "items": body + b",",
                 "interim": b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", "head": b"y" * 4096, "headers": b"X: y\r\n" * 100,
                 "gzip": gzip.compress(b" " * 4_000_000, 1), "chunks of one byte": b"1\r\n \r\n" * 1000}[what]
        begin = {"interim": b"", "head": head + b"X: ", "headers": head, "gzip": head + b"Content-Encoding: gzip\r\n\r\n",
                 "text": head + b'\r\n{"a": "', "items": head + b'\r\n{"kind": "PodList", "items": [',
                 "chunks of one byte": head + b"Transfer-Encoding: chunked\r\n\r\n"}.get(what, head + b"\r\n")
        peer.write(begin)
        # Not as fast as it can: the processors are others' too.
        until = time.monotonic() + 15
        while time.monotonic() < until and not peer.stopped.is_set():
            peer.write(piece)
        return False
    return f"without end, {what}", act, None


def odd_head(chance, question):
    what = chance.choice(["SSH", "HTTP/2", "HTTP/0.9", "status of letters", "no reason", "no colon", "blank before colon", "folded", "NUL",
                          "bare line ends", "odd header", "switched", "continue", "early hints"])
    odd = chance.choice(ODD_HEADERS)

    def act(fault, peer, request, body, headers):
        right = response(200, body, headers)
        after_status = right.split(b"\r\n", 1)[1]
        peer.write({"SSH": b"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2": b"HTTP/2 200\r\n" + after_status, "HTTP/0.9": body,
                    "status of letters": b"HTTP/1.1 2x0 OK\r\n" + after_status, "no reason": b"HTTP/1.1 200\r\n" + after_status,
                    "no colon": b"HTTP/1.1 200 OK\r\nnonsense\r\n" + after_status,
                    "blank before colon": b"HTTP/1.1 200 OK\r\nX : y\r\n" + after_status,
                    "folded": b"HTTP/1.1 200 OK\r\nX: y\r\n z\r\n" + after_status, "NUL": b"HTTP/1.1 200 OK\r\nX: \0\r\n" + after_status,
                    "bare line ends": right.replace(b"\r\n", b"\n"), "odd header": response(200, body, [*headers, odd]),
                    "switched": b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "continue": b"HTTP/1.1 100 Continue\r\n\r\n" + right,
                    "early hints": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + right}[what])
        return what in ("odd header", "continue", "early hints", "no reason")
    return f"an odd head, {what}" + (f" {odd[0]}: {odd[1][:20]!r}" if what == "odd header" else ""), act, None


# ---- Statuses, pages, words ------------------------------------------------------------------

def status(chance, question):
    number = chance.choice([chance.randrange(201, 600), chance.choice([204, 206, 304, 400, 401, 403, 404, 408, 410, 429, 500, 502, 503, 504])])
    retry, body_kind, words = chance.choice(RETRY_AFTER), chance.choice(["empty", "words", "HTML", "right", "echo"]), chance.choice(HOSTILE)

    def act(fault, peer, request, body, headers):
        said = {"empty": b"", "words": hostile_error(question, number, words), "HTML": b"<html>" + words.encode("utf-8", "surrogatepass"),
                "right": body, "echo": hostile_error(question, number, request.decode("latin-1"))}[body_kind]
        if retry is not None:
            headers = [*headers, ("Retry-After", retry)]
        if number in (204, 304):
            said = b""
        peer.write(response(number, said, headers))
        return True
    return f"status {number}, {body_kind} {words[:12]!r}, Retry-After {retry!r}", act, None


def redirect(chance, question):
    number, to = chance.choice([301, 302, 303, 307, 308]), chance.choice(["itself", "elsewhere", "nowhere", "nonsense", "a file", "its own server"])

    def act(fault, peer, request, body, headers):
        target = request.split(b" ")[1].decode("latin-1")
        location = {"itself": target, "elsewhere": fault.elsewhere + target, "nowhere": "http://127.0.0.1:1/", "nonsense": "http://[::",
                    "a file": "file:///etc/passwd", "its own server": "/x" + target}[to]
        peer.write(response(number, b"", [*headers, ("Location", location)]))
        return True
    return f"redirect {number} to {to}", act, None


def tokens(chance, question):
    what = chance.choice(["the same for ever", "ever new ones, without items", "ever new ones", "huge", "hostile", "a number", "null", "a list"])
    word = chance.choice(HOSTILE)
    count = [0]

    def act(fault, peer, request, body, headers):
        count[0] += 1
        try:
            document = json.loads(body)
        except ValueError:
            document = {}
        token = {"the same for ever": "two", "huge": "t" * 200000, "hostile": word, "a number": 5, "null": None, "a list": []}.get(
            what, f"t{count[0]}")
        if question.backend == "kubernetes":
            if not isinstance(document.get("metadata"), dict):
                document["metadata"] = {}
            document["metadata"]["continue"] = token
        else:
            document["nextPageToken"] = token
        if what == "ever new ones, without items":
            fault.another = True
            document = {key: ({} if isinstance(value, dict) else []) if key in ("items", "nodes", "managedInstances") else value
                        for key, value in document.items()}
        peer.write(response(200, json.dumps(document).encode(), headers))
        return True
    return f"page tokens, {what}", act, None


def other_document(chance, question):
    what = chance.choice([b"", b"null", b"[]", b"{}", b"5", b'"x"', b"{", b"not json", b"{}{}", b"\xef\xbb\xbf{}", b"\xff\xfe{\0}\0", b"[" * 100000,
                          b'{"a":' * 50000, b'{"kind": "Status", "status": "Failure", "code": 200}', b'{"error": {"code": 200, "message": "x"}}'])

    def act(fault, peer, request, body, headers):
        # Google's APIs leave out what is empty: so this is a page of nobody.
        fault.another = question.backend != "kubernetes" and what == b"{}"
        peer.write(response(200, what, headers))
        return True
    return f"another document, {what[:30]!r}", act, None


def hostile_words(chance, question):
    """Words of a source that decide nothing, beside what does: the cluster stays what it is."""
    word, key = chance.choice(HOSTILE), chance.choice(["message", "warning", "description", "\x1b[31m", "x" * 70000])

    def act(fault, peer, request, body, headers):
        try:
            document = json.loads(body)
        except ValueError:
            document = None
        if isinstance(document, dict):
            document[key if key not in document and not (key == "warning" and question.backend == "gce") else "zzz"] = {"a": word, "b": [word]}
            body = json.dumps(document).encode()
        peer.write(response(200, body, headers))
        return True
    return f"fields that nobody knows, {key[:12]!r} {word[:12]!r}", act, None


KINDS = [("connection", connection, 4), ("cut", cut, 10), ("in the head", in_the_head, 3), ("wrong length", wrong_length, 6),
         ("chunks", chunking, 8), ("gzip", packing, 8), ("slow", slow, 3), ("silent", silent, 2), ("endless", endless, 3),
         ("odd head", odd_head, 6), ("status", status, 16), ("redirect", redirect, 6), ("pages", tokens, 6), ("document", other_document, 6),
         ("words", hostile_words, 5)]

# 300 MB in gzip, once for all cases.
BOMB = gzip.compress(b" " * (1 << 20), 9) * 300


def lines(headers):
    return "".join(f"{name}: {value}\r\n" for name, value in headers).encode()


def chunks(body, sizes):
    """The body in chunks of these sizes, in turn, with their end."""
    out, at, turn = b"", 0, 0
    while at < len(body):
        piece = body[at:at + sizes[turn % len(sizes)]]
        out += b"%x\r\n%s\r\n" % (len(piece), piece)
        at, turn = at + len(piece), turn + 1
    return out + b"0\r\n\r\n"


def hostile_error(question, number, words):
    """An error in the API's own form, whose words are these."""
    if question.backend == "kubernetes":
        return json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": words, "reason": words[:50], "code": number}).encode()
    return json.dumps({"error": {"code": number, "message": words, "status": words[:50], "errors": [{"reason": words[:50], "message": words}]}}).encode()
