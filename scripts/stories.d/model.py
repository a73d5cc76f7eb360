"""The chat model of the stories: a scripted one, or a recording proxy to a real one.

The server asks it for answers to chats and for what to learn from conversations. Every request is recorded, so that a
story can show the prompt that the model really got.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MARKED_LINE = re.compile(r"^- \[(m\d+)\] (.+)$", re.M)
#: Memories relevant to a message are put before its words.
MEMORY_BLOCK = re.compile(r"<memory-now[^>]*>.*?</memory-now[^>]*>", re.S)
#: Words that say nothing about the subject of a sentence.
COMMON = set(
    "about answer again always been could from have help into just know like make more need please should some tell"
    " than that their them then there they this want what when where which will with would your user".split()
)


def text_of(message: dict) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def subject_words(text: str) -> set[str]:
    found = (word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower()) if word not in COMMON)
    return set(found)


class Model:
    """An OpenAI-compatible service on a free port of this machine."""

    def __init__(self, upstream: str | None = None) -> None:
        self.upstream = upstream.rstrip("/") if upstream else None
        self.requests: list[dict] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.reply(200, json.dumps({"object": "list", "data": [{"id": model.name, "object": "model"}]}))

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.loads(data)
                model.requests.append(body)
                if model.upstream:
                    self.forward(data)
                elif body.get("stream"):
                    self.reply(200, stream_of(scripted_answer(body)), "text/event-stream")
                else:
                    choice = {"index": 0, "finish_reason": "stop", "message": scripted_answer(body)}
                    if choice["message"].get("tool_calls"):
                        choice["finish_reason"] = "tool_calls"
                    usage = {"prompt_tokens": len(data) // 4, "completion_tokens": 20, "total_tokens": len(data) // 4}
                    answer = {"id": "scripted", "object": "chat.completion", "created": 1, "model": model.name}
                    self.reply(200, json.dumps({**answer, "choices": [choice], "usage": usage}))

            def forward(self, data: bytes) -> None:
                """Passes the request to the real model, and its answer back as it arrives."""
                address = urllib.parse.urlsplit(model.upstream)
                secure = address.scheme == "https"
                kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
                connection = kind(address.netloc, timeout=900)
                headers = {"Content-Type": "application/json"}
                if self.headers.get("Authorization"):
                    headers["Authorization"] = self.headers["Authorization"]
                path = address.path + self.path.removeprefix("/v1")
                connection.request("POST", path, data, headers)
                response = connection.getresponse()
                self.send_response(response.status)
                self.send_header("Content-Type", response.getheader("Content-Type", "application/json"))
                self.end_headers()
                while piece := response.read1(65536):
                    self.wfile.write(piece)
                    self.wfile.flush()

            def reply(self, status: int, body: str, kind: str = "application/json") -> None:
                data = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.name = self.first_model() if upstream else "scripted"
        self.service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.service.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.service.server_port}/v1"
        threading.Thread(target=self.service.serve_forever, daemon=True).start()

    def first_model(self) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.upstream}/models", timeout=30) as response:
            return json.load(response)["data"][0]["id"]

    @property
    def is_scripted(self) -> bool:
        return self.upstream is None

    def counts(self) -> tuple[int, int]:
        """How many answers to chats, and how many answers to the server itself, were asked for."""
        own = sum("response_format" in request for request in self.requests)
        return len(self.requests) - own, own

    def last_prompt(self) -> str:
        """All messages of the latest chat request, as the model got them."""
        chats = [request for request in self.requests if "response_format" not in request]
        return "\n".join(text_of(message) for message in chats[-1]["messages"])

    def stop(self) -> None:
        self.service.shutdown()


def stream_of(message: dict) -> str:
    deltas = [{"role": "assistant", "content": message["content"]}]
    finish = "stop"
    if message.get("tool_calls"):
        finish = "tool_calls"
        deltas = [{"role": "assistant", "tool_calls": message["tool_calls"]}]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def scripted_answer(body: dict) -> dict:
    schema = body.get("response_format", {}).get("json_schema", {}).get("name")
    if schema:
        answer = json.dumps(own_answer(schema, text_of(body["messages"][-1])))
        return {"role": "assistant", "content": answer}
    return chat_answer(body["messages"], body.get("tools") or [])


# ---------------------------------------------------------------- answers to users


def chat_answer(messages: list[dict], tools: list[dict]) -> dict:
    """Calls a memory tool if one fits; else says what it was given about the subject, with the marks."""
    question = text_of(next(message for message in reversed(messages) if message["role"] == "user"))
    question = MEMORY_BLOCK.sub("", question).strip()
    offered = {tool["function"]["name"] for tool in tools}
    if messages[-1]["role"] == "tool":
        return {"role": "assistant", "content": f"Done: {text_of(messages[-1])}"}
    wish = re.search(r"remember that (.+?)[.!]?$", question, re.I | re.M)
    call = None
    if wish and "save_memory" in offered:
        call = ("save_memory", {"content": wish[1][0].upper() + wish[1][1:]})
    elif question.rstrip().endswith("?") and "recall_memories" in offered:
        call = ("recall_memories", {"query": question})
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    prompt = "\n".join(text_of(message) for message in messages)
    about = subject_words(question)
    lines = [(mark, line) for mark, line in MARKED_LINE.findall(prompt) if about & subject_words(line)]
    if not lines:
        return {"role": "assistant", "content": "All right."}
    return {"role": "assistant", "content": "You told me: " + "; ".join(f"{line} [{mark}]" for mark, line in lines[:3])}


# ---------------------------------------------------------------- answers to the server


def own_answer(schema: str, prompt: str) -> dict:
    """The answer to a request of the server itself: to learn, to title, to summarize, to phrase, to compare."""
    if schema == "title":
        return {"title": " ".join(first_user_words(prompt).split()[:5]) or "A chat"}
    if schema == "summary":
        return {"summary": first_user_words(prompt)}
    if schema == "sentences":
        return {"sentences": []}
    if schema == "memories":
        return learned(prompt)
    handles = re.findall(r"^(p\d+) older:", prompt, re.M)
    return {"pairs": [{"pair": handle, "answer": "unrelated"} for handle in handles]}


def first_user_words(prompt: str) -> str:
    found = re.search(r"^\d+ user[^:]*: (.*)$", prompt, re.M)
    return found[1] if found else ""


def section_of(prompt: str, heading: str) -> str:
    return prompt.partition(f"{heading}:\n")[2].partition("\n\n")[0]


def learned(prompt: str) -> dict:
    """One memory for each lasting sentence of the user."""
    known = re.findall(r"^(m\d+): (.*)$", section_of(prompt, "Known memories"), re.M)
    turns = re.findall(r"^(\d+) user[^:]*: (.*)$", section_of(prompt, "New turns, to learn from"), re.M)
    kinds, memories = {}, []
    for handle, sentence in re.findall(r"^(s\d+): (.*)$", section_of(prompt, "Sentences of the user"), re.M):
        kinds[handle] = sentence_kind(sentence)
        turn = next((int(number) for number, words in turns if sentence.rstrip(".!") in words), None)
        if kinds[handle] != "chat" and turn is not None:
            memories.append(memory_of(sentence, turn, known, kinds[handle]))
    summary = " ".join(words for _, words in turns)[:500]
    return {"sentences": kinds, "title": " ".join(summary.split()[:5]), "summary": summary, "memories": memories}


def sentence_kind(sentence: str) -> str:
    if re.match(r"(thanks|make|ok|yes|no)\b", sentence, re.I):
        return "chat"
    return "preference" if re.search(r"\b(prefer|like|love|hate|enjoy|want)", sentence, re.I) else "fact"


def memory_of(sentence: str, turn: int, known: list[tuple[str, str]], kind: str) -> dict:
    content = third_person(sentence)
    memory = {
        "op": "new", "target": None, "content": content, "kind": kind, "importance": 7, "certainty": "said",
        "until": None, "turn": turn, "quote": sentence, "domain": None,
    }  # fmt: skip
    if re.search(r"\b(might|maybe|thinking about|perhaps)\b", sentence, re.I):
        memory |= {"certainty": "guess", "importance": 4}
    for handle, old in known:
        if old.lower().rstrip(".") == content.lower().rstrip("."):
            memory |= {"op": "again", "target": handle}
        elif re.search(r"\b(stopped|no longer|now|changed|actually)\b", sentence, re.I):
            if subject_words(old) & subject_words(content):
                memory |= {"op": "update", "target": handle}
    return memory


def third_person(sentence: str) -> str:
    """A sentence about "I" as one about "User"."""
    if re.match(r"(I|My|I'm|I've)\b", sentence) is None:
        return sentence
    for first, third in (
        (r"\bI'm\b|\bI am\b", "User is"), (r"\bI've\b|\bI have\b", "User has"), (r"\bmy\b", "their"),
        (r"\bMy\b", "User's"), (r"\bI (prefer|like|love|want|work|live|play|drink|read|run)\b", r"User \1s"),
        (r"\bI\b", "User"), (r"\bme\b", "them"),
    ):  # fmt: skip
        sentence = re.sub(first, third, sentence)
    return sentence
