"""Vectors from a server: one that behaves, and many that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.embed.vector_server import VectorServer, reply, serving_vectors, vector_of, vectors
from tests.http_servers import DRIPS, Handle, Request, badly_packed, closed, endless, nonsense, silent

from kiwiresearch.embed import server as module
from kiwiresearch.embed.server import ServerEmbedder, embeddings_url
from kiwiresearch.errors import EmbedderError


@pytest.fixture
def server() -> Iterator[VectorServer]:
    with serving_vectors() as shown:
        yield shown


def _rows(*texts: str) -> np.ndarray:
    rows = np.array([vector_of(text) for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_rows_come_in_the_order_of_the_texts(server: VectorServer) -> None:
    """What a server gives in any order belongs to the text of its index, scaled to length one."""
    embedder = ServerEmbedder(server.address, "some-model")
    assert embedder.embed(["banana", "a", "plum"]) == pytest.approx(_rows("banana", "a", "plum"), abs=1e-3)
    assert embedder.dimensions == 3
    embedder.close()


def test_the_server_is_asked_as_openai_is(server: VectorServer) -> None:
    """Address, model, key and texts go where every server of this kind expects them."""
    embedder = ServerEmbedder(server.address, "some-model", "secret")
    embedder.embed(["plum"])
    assert server.paths == ["/v1/embeddings"]
    assert server.seen == [{"model": "some-model", "input": ["plum"], "encoding_format": "float"}]
    assert server.headers[0]["Authorization"] == "Bearer secret"
    embedder.close()


def test_many_texts_go_in_batches(server: VectorServer) -> None:
    """A hundred texts are not one huge request, and come back in their order."""
    texts = [f"{'a' * (number % 7)} {number}" for number in range(100)]
    embedder = ServerEmbedder(server.address, "m")
    assert embedder.embed(texts) == pytest.approx(_rows(*texts), abs=1e-3)
    assert [len(body["input"]) for body in server.seen] == [32, 32, 32, 4]
    embedder.close()


def test_empty_texts_are_not_sent(server: VectorServer) -> None:
    """Many servers refuse an empty text, so its row is zero without asking."""
    embedder = ServerEmbedder(server.address, "m")
    rows = embedder.embed(["", "plum", " \n"])
    assert server.seen[0]["input"] == ["plum"]
    assert rows[[0, 2]].tolist() == [[0, 0, 0], [0, 0, 0]]
    embedder.close()


def test_strange_texts_are_sent_as_text(server: VectorServer) -> None:
    """Half a surrogate pair and a huge text are sent as something a server can read."""
    embedder = ServerEmbedder(server.address, "m")
    embedder.embed(["\ud800 x", "y" * 10**6])
    assert server.seen[0]["input"] == ["? x", "y" * module.MAX_CHARS]
    embedder.close()


def test_two_servers_have_two_ids() -> None:
    """Vectors of another server or another model never mix."""
    ids = {ServerEmbedder(url, model).id for url in ("http://a", "http://b") for model in ("m", "n")}
    assert len(ids) == 4


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("localhost:11434", "http://localhost:11434/v1/embeddings"),
        ("http://host:8080/", "http://host:8080/v1/embeddings"),
        ("http://host/v1", "http://host/v1/embeddings"),
        ("https://host/root/v1/", "https://host/root/v1/embeddings"),
        ("https://host/root", "https://host/root/v1/embeddings"),
        ("https://host/v1beta/openai", "https://host/v1beta/openai/embeddings"),
        ("http://host/v1/embeddings", "http://host/v1/embeddings"),
    ],
)
def test_the_address_is_understood(given: str, asked: str) -> None:
    """An address with or without /v1 leads to the same place."""
    assert embeddings_url(given) == asked


@pytest.mark.parametrize(
    "address",
    ["", "ftp://host", "http://", "http://[", "http://host:99999", "http://host:port", "http://me:secret@host"],
)
def test_an_invalid_address_is_an_error(address: str) -> None:
    """A setting that is not an address is named, with an example of one."""
    with pytest.raises(EmbedderError, match="is not the address") as caught:
        ServerEmbedder(address, "m")
    assert "http://" in caught.value.remedy


def _data(*items: object) -> Callable[[Request, dict[str, Any]], None]:
    return lambda request, _: reply(request, {"data": items})


def _item(index: object, *parts: object) -> dict[str, object]:
    return {"index": index, "embedding": list(parts)}


def _bytes(content: bytes, status: int = 200) -> Callable[[Request, dict[str, Any]], None]:
    return lambda request, _: reply(request, content, status)


STRANGE: dict[str, Callable[[Request, dict[str, Any]], None]] = {
    "an error of its own": _bytes(b'{"error": "no such model"}', 500),
    "a wrong key": _bytes(b"{}", 401),
    "a redirect elsewhere": lambda request, _: reply(request, b"", 307, Location="http://example.invalid/"),
    "nothing": _bytes(b""),
    "a web page": _bytes(b"<html>Welcome</html>"),
    "JSON of another kind": _bytes(b"[1, 2]"),
    "deep JSON": _bytes(b"[" * 100_000),
    "an error with status 200": _bytes(b'{"error": "busy"}'),
    "data that is no list": _bytes(b'{"data": 7}'),
    "too few vectors": _data(_item(0, 1, 2)),
    "too many vectors": _data(_item(0, 1, 2), _item(1, 1, 2), _item(2, 1, 2)),
    "one index twice": _data(_item(0, 1, 2), _item(0, 1, 2)),
    "an index that is none": _data(_item(0, 1, 2), _item("1", 1, 2)),
    "an index that is true": _data(_item(0, 1, 2), _item(True, 1, 2)),
    "no index": _data({"embedding": [1, 2]}, {"embedding": [1, 2]}),
    "vectors of two lengths": _data(_item(0, 1, 2), _item(1, 1, 2, 3)),
    "vectors without parts": _data(_item(0), _item(1)),
    "a vector in a vector": _data(_item(0, [1, 2]), _item(1, [1, 2])),
    "numbers as text": _data(_item(0, "1", "2"), _item(1, "1", "2")),
    "base64": _data({"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}),
    "no number": _data(_item(0, 1, float("nan")), _item(1, 1, 2)),
    "infinity": _data(_item(0, 1, float("inf")), _item(1, 1, 2)),
    "a number beyond all floats": _data(_item(0, 1, 10**400), _item(1, 1, 2)),
    "nothing instead of a number": _data(_item(0, 1, None), _item(1, 1, 2)),
}


@pytest.mark.parametrize("answer", STRANGE.values(), ids=STRANGE.keys())
def test_a_strange_answer_is_one_clear_error(
    answer: Callable[[Request, dict[str, Any]], None], server: VectorServer
) -> None:
    """Whatever a server answers, the user reads one sentence that names it and says what to do."""
    server.answer = answer
    embedder = ServerEmbedder(server.address, "m")
    with pytest.raises(EmbedderError, match=server.address) as caught:
        embedder.embed(["one", "two"])
    assert caught.value.remedy
    embedder.close()


def test_other_dimensions_later_are_an_error(server: VectorServer) -> None:
    """A server that changes its model on the way is noticed."""
    embedder = ServerEmbedder(server.address, "m")
    embedder.embed(["one"])
    server.answer = _data(_item(0, 1, 2, 3, 4))
    with pytest.raises(EmbedderError, match="lengths"):
        embedder.embed(["one"])
    embedder.close()


def test_wild_numbers_still_make_a_direction(server: VectorServer) -> None:
    """Parts near the end of the range are scaled, not lost."""
    server.answer = _data(_item(0, 1e308, 1e308))
    embedder = ServerEmbedder(server.address, "m")
    assert embedder.embed(["one"]) == pytest.approx(np.array([[0.7071, 0.7071]]), abs=1e-3)
    embedder.close()


FAULTS: dict[str, tuple[Handle, str]] = {
    "hangs up": (closed, "is not responding: "),
    "no HTTP": (nonsense, "is not responding: "),
    "silent": (silent, r"did not reply within 0\.3 s"),
    "drips headers": (DRIPS["headers"], r"did not reply within 0\.3 s"),
    "drips": (DRIPS["parts"], r"did not reply within 0\.3 s"),
    "gzip that is none": (badly_packed, "cannot be reached: "),
    "endless": (endless, "sent more than 1 MiB"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_misbehaves_is_left_with_a_sentence(
    fault: str, server: VectorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is silent, drips, breaks off or never stops does not keep the user waiting for ever."""
    monkeypatch.setattr(module, "MAX_BYTES", 2**20)
    handle, words = FAULTS[fault]
    server.answer = lambda request, _: handle(request)
    embedder = ServerEmbedder(server.address, "m", timeout_s=0.3 if "within" in words else 20.0)
    with pytest.raises(EmbedderError, match=words):
        embedder.embed(["one"])
    embedder.close()


def test_a_broken_line_is_tried_again(server: VectorServer) -> None:
    """One connection that breaks does not mean going without vectors."""

    def first_broken(request: Request, body: dict[str, Any]) -> None:
        server.answer = vectors
        closed(request)

    server.answer = first_broken
    embedder = ServerEmbedder(server.address, "m")
    assert embedder.embed(["plum"]).shape == (1, 3)
    embedder.close()


def test_nobody_there_is_an_error() -> None:
    """A server that is not running is named."""
    with serving_vectors() as gone:
        address = gone.address
    embedder = ServerEmbedder(address, "m")
    with pytest.raises(EmbedderError, match="is not responding"):
        embedder.embed(["one"])
    embedder.close()


@pytest.mark.parametrize("key", ["geheim→schlüssel", "geheim\nX-Other: 1", "geheim\x00"])
def test_a_key_that_is_none_is_an_error(key: str) -> None:
    """A key that cannot be sent is not sent, and not shown."""
    with pytest.raises(EmbedderError, match="key") as caught:
        ServerEmbedder("http://127.0.0.1:9", "m", key)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(("address", "model"), [("http://host\ud800", "m"), ("http://ho st", "m"), ("", "\ud800")])
def test_settings_with_strange_letters_are_an_error(address: str, model: str, server: VectorServer) -> None:
    """An address or a model that cannot be sent gives one sentence too."""
    with pytest.raises(EmbedderError):
        ServerEmbedder(address or server.address, model).embed(["one"])
