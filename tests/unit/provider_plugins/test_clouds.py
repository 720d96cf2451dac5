"""The two clouds: when they are meant, what their addresses become, how their frames are read."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from mock_provider.anthropic_replies import call, said, think
from mock_provider.clouds import chunk_frame, exception_frame, frame, framed
from support.proxying import CERTIFICATE, TlsServer

from zot_core.models.protocol import Outgoing, Request
from zot_core.models.registry import ModelRegistry
from zot_core.net.sse import BrokenStream, SseDecoder
from zot_core.types.failure import RunFailed, UsageError
from zot_core.types.specs import resolve
from zot_plugins.api_anthropic.eventstream import EventStreamDecoder
from zot_plugins.api_anthropic.stream import MessagesParser
from zot_plugins.providers import bedrock, vertex
from zot_plugins.providers.plugin import providers

EVENTS = said(think("Hm."), "It says 👍", call("read", path="a"))


@pytest.fixture
def registry() -> ModelRegistry:
    found = ModelRegistry()
    found.add_providers([("providers", spec) for spec in providers()])
    return found


@pytest.mark.parametrize("name", ["claude-opus-5-5", "opus-5-5", "gemini-4-neon", "haiku-4-5"])
def test_a_bare_name_means_the_vendor_and_never_a_cloud(registry: ModelRegistry, name: str) -> None:
    assert registry.resolve(model=name).provider.id in ("anthropic", "google")
    assert registry.resolve(model=name, usable=lambda spec: spec.named_only).provider.id in ("anthropic", "google")


@pytest.mark.parametrize(
    ("provider", "model", "found"),
    [
        ("google-vertex", "claude-opus-5-5", "google-vertex/claude-opus-5-5"),
        ("", "google-vertex/claude-opus-5-5", "google-vertex/claude-opus-5-5"),
        ("", "global.anthropic.claude-opus-5-5", "amazon-bedrock/global.anthropic.claude-opus-5-5"),
        ("amazon-bedrock", "sonnet-5-5", "amazon-bedrock/global.anthropic.claude-sonnet-5-5"),
        ("amazon-bedrock", "", "amazon-bedrock/global.anthropic.claude-opus-5-5"),
        ("google-vertex", "", "google-vertex/gemini-4-neon"),
    ],
)
def test_a_cloud_that_is_named_is_meant(registry: ModelRegistry, provider: str, model: str, found: str) -> None:
    choice = registry.resolve(provider=provider, model=model)
    assert f"{choice.model.provider}/{choice.model.id}" == found


def test_nobody_chooses_a_cloud_unasked(registry: ModelRegistry) -> None:
    assert registry.resolve(usable=lambda spec: spec.named_only).provider.id == "anthropic"
    bare = ModelRegistry()
    bare.add_providers([("providers", spec) for spec in providers() if spec.named_only])
    with pytest.raises(UsageError):
        bare.resolve()


def test_all_models_of_the_clouds_have_prices_windows_and_known_formats(registry: ModelRegistry) -> None:
    models = [*registry.models("amazon-bedrock"), *registry.models("google-vertex")]
    assert len(models) > 15
    assert all(model.prices and model.context_window > 100_000 for model in models)
    assert {model.api for model in models} == {"anthropic-messages", "google-generative-ai"}
    assert all("{model}" in model.compat["path"] for model in models)


def _built(registry: ModelRegistry, name: str) -> Any:
    found = registry.find(name)
    assert found is not None
    place = {"anthropic-messages": "api_anthropic", "google-generative-ai": "api_google"}[found.api]
    return resolve(f"zot_plugins.{place}.request:build")(Request(model=found, messages=[]))


def test_the_model_stands_in_the_path_alone(registry: ModelRegistry) -> None:
    bedrock = _built(registry, "amazon-bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0")
    assert bedrock.path == "model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream"
    assert not bedrock.payload.keys() & {"model", "stream"}
    claude = _built(registry, "google-vertex/claude-haiku-4-5@20251001")
    assert claude.path == "publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict"
    gemini = _built(registry, "google-vertex/gemini-4-neon")
    assert gemini.path == "publishers/google/models/gemini-4-neon:streamGenerateContent?alt=sse"


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("us-east5", "us-east5-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_the_location_says_the_host(
    registry: ModelRegistry, monkeypatch: pytest.MonkeyPatch, location: str, host: str
) -> None:
    spec, model = registry.provider("google-vertex"), registry.find("google-vertex/gemini-4-neon")
    assert spec is not None and model is not None
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p-1")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", location)
    outgoing = Outgoing(provider=spec, model=model, url=spec.base_url, headers={}, content=b"", key="token")
    answer = asyncio.run(vertex.authorize(outgoing))
    assert answer.url == f"https://{host}/v1/projects/p-1/locations/{location}"


def test_a_project_that_is_none_is_refused(registry: ModelRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, model = registry.provider("google-vertex"), registry.find("google-vertex/gemini-4-neon")
    assert spec is not None and model is not None
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "a/../b")
    outgoing = Outgoing(provider=spec, model=model, url=spec.base_url, headers={}, content=b"", key="token")
    with pytest.raises(RunFailed, match="no id of a Google Cloud project"):
        asyncio.run(vertex.authorize(outgoing))


def test_signs_of_credentials_are_looked_for_in_variables_and_files(
    isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (bedrock.signs(), vertex.signs()) == (False, False)
    for name, content in ((".aws/config", ""), (".config/gcloud/application_default_credentials.json", "{}")):
        path = isolated / "user" / name
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    assert (bedrock.signs(), vertex.signs()) == (True, True)
    monkeypatch.setenv("HOME", str(isolated))
    assert (bedrock.signs(), vertex.signs()) == (False, False)
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(isolated / "nowhere.json"))
    assert (bedrock.signs(), vertex.signs()) == (True, False)


def test_tokens_are_fetched_from_whom_zot_believes(monkeypatch: pytest.MonkeyPatch) -> None:
    import requests

    with TlsServer() as server, pytest.raises(requests.exceptions.SSLError):
        vertex.trusting_session().get(server.url, timeout=10)
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with TlsServer() as server, vertex.trusting_session().get(server.url, timeout=10) as answer:
        assert answer.text == "ok"


def _parts(registry: ModelRegistry, events: Any) -> list[Any]:
    model = registry.find("amazon-bedrock/global.anthropic.claude-opus-5-5")
    assert model is not None
    parser = MessagesParser(Request(model=model, messages=[]))
    return [*(part for event in events for part in parser.feed(event)), *parser.finish()]


def test_frames_cut_anywhere_bring_what_server_sent_events_bring(registry: ModelRegistry) -> None:
    wanted = _parts(registry, SseDecoder().feed("".join(EVENTS).encode()))
    whole = b"".join(framed(EVENTS))
    dice = random.Random(1)
    sizes = [[size] * (len(whole) // size + 1) for size in (1, 2, 3, 11, 12, 13, len(whole))]
    sizes += [[dice.randrange(1, 200) for _ in range(len(whole))] for _ in range(20)]
    for cuts in sizes:
        decoder, events, place = EventStreamDecoder(), [], 0
        for size in cuts:
            events.extend(decoder.feed(whole[place : place + size]))
            place += size
        assert _parts(registry, [*events, *decoder.finish()]) == wanted


def test_every_changed_byte_of_a_frame_is_found() -> None:
    whole = chunk_frame(json.dumps({"type": "ping"}))
    for place in range(len(whole)):
        damaged = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        decoder = EventStreamDecoder()
        try:
            assert decoder.feed(damaged) == []  # a length that became larger: the end never comes
        except BrokenStream:
            continue


@pytest.mark.parametrize(
    "nonsense",
    [
        frame({":message-type": "event", ":event-type": "chunk"}, b'{"bytes": "???"}'),
        frame({":message-type": "event", ":event-type": "chunk"}, b'{"bytes": 7}'),
        frame({"x": "y"}, b"")[:4] + bytes(8),
    ],
)
def test_nonsense_in_a_frame_is_a_broken_stream(nonsense: bytes) -> None:
    with pytest.raises(BrokenStream):
        EventStreamDecoder().feed(nonsense)


def test_unknown_frames_are_passed_over_and_errors_keep_their_words(registry: ModelRegistry) -> None:
    strange = frame({":message-type": "event", ":event-type": "initial-response"}, b"{}") + frame({}, b"")
    assert EventStreamDecoder().feed(strange) == []
    failed = EventStreamDecoder().feed(
        exception_frame("modelStreamErrorException", "It broke.", originalMessage="out of memory")
    )
    failure = _parts(registry, failed)[-1].failure
    assert (failure.kind, failure.retryable) == ("provider", True)
    assert failure.message == "It broke.: out of memory"
    error = frame({":message-type": "error", ":error-code": "InternalError", ":error-message": "oh"}, b"")
    assert _parts(registry, EventStreamDecoder().feed(error))[-1].failure.message == "oh"
