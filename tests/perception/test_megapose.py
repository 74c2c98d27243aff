"""The client against a stand-in server on loopback: what it sends, what it understands, and what it does not."""

import json
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from perception.pose_server import StandInServer, entry, packed, text

from tests.refusals import assert_refused
from thunder_py.perception import MegaPoseClient, MegaPoseSource, PinholeCamera, PoseServerError, PoseSource
from thunder_py.spatial import pose_from_rpy

_CAMERA = PinholeCamera(40, 30, 50.0, 51.0, 20.0, 14.0)
_POSE = pose_from_rpy((0.1, -0.05, 0.6), (0.3, 0.2, 2.0))
_PICTURE = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
_BOX = (5.0, 6.0, 20.0, 25.0)


def _poses(*entries: Any) -> bytes:
    return packed("RETP", text(json.dumps(list(entries))))


def _client(server: StandInServer, **options: Any) -> MegaPoseClient:
    return MegaPoseClient(_CAMERA, port=server.port, **({"timeout": 5.0} | options))


def test_requests_and_answers_are_those_of_the_protocol() -> None:
    with (
        StandInServer(lambda request: _poses(entry(_POSE), entry(np.eye(4), 0.25))) as server,
        _client(server) as client,
    ):
        assert client.objects() == ["cube", "pneumatic tool"]
        depth = np.arange(1200, dtype=np.uint16).reshape(30, 40)
        first, second = client.poses(
            _PICTURE, ["cube", "cube"], boxes=[_BOX, (0, 0, 1, 1)], depth=depth, depth_scale=0.002, refinements=3
        )
        client.poses(_PICTURE[..., 0], ["cube", "pneumatic tool"], initial=[_POSE, np.eye(4)])
    assert server.intrinsics == [{"px": 50.0, "py": 51.0, "u0": 20.0, "v0": 14.0, "h": 30, "w": 40}]
    np.testing.assert_allclose(first.pose, _POSE, atol=1e-6)
    np.testing.assert_allclose(first.pose[:3, :3].T @ first.pose[:3, :3], np.eye(3), atol=1e-14)
    assert (first.score, second.score, first.box) == (0.9, 0.25, (1.0, 2.0, 3.0, 4.0))
    boxed, started = server.requests
    assert np.array_equal(boxed["picture"], _PICTURE)
    np.testing.assert_allclose(boxed["depth"], 0.002 * depth)
    assert boxed["detections"] == [list(_BOX), [0.0, 0.0, 1.0, 1.0]]
    assert (boxed["labels"], boxed["refiner_iterations"]) == (["cube", "cube"], 3)
    assert "initial_cTos" not in boxed
    assert np.array_equal(started["picture"], np.repeat(_PICTURE[..., :1], 3, axis=2))
    np.testing.assert_allclose(np.reshape(started["initial_cTos"], (2, 4, 4)), [_POSE, np.eye(4)])
    assert {"detections", "refiner_iterations", "depth_scale_to_m"}.isdisjoint(started)


ANSWERS = [
    (packed("RERR", text("no such object")), "the pose server reported: no such object"),
    (packed("OKOK"), "must answer b'RETP' to b'GETP', got b'OKOK'"),
    (packed("WHAT", b"x"), "must answer b'RETP' to b'GETP', got b'WHAT' with 1 bytes"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "must answer b'RETP' to b'GETP', got b'"),
    (b"\xff\xff\xff\xffRETP", "got b'RETP' with 4294967295 bytes"),
    (packed("RETP", b"\x00\x00\x00\xffabc"), "must answer in JSON, got"),
    (packed("RETP", b""), "must answer in JSON, got b''"),
    (packed("RETP", b"\x00\x00\x00\x01\xff"), "must answer in JSON"),
    (packed("RETP", text("{")), "must answer in JSON"),
    (packed("RETP", text("[" * 100000)), "must answer in JSON"),
    (packed("RETP", text("{}")), "must give 1 pose(s), got {}"),
    (_poses(), "must give 1 pose(s), got []"),
    (_poses(3), "must give cTo, score and boundingBox of every pose: "),
    (_poses({}), "of every pose: 'cTo'"),
    (_poses(entry(cTo=[1.0] * 15)), "of every pose: cTo must have shape (16,)"),
    (_poses(entry(cTo=["1"] * 15)), "of every pose: cTo must have shape"),
    (_poses(entry(cTo=[10**400] * 16)), "of every pose: "),
    (_poses(entry(np.full((4, 4), np.nan))), "of every pose: cTo must be finite"),
    (_poses(entry(np.diag([2.0, 1.0, 1.0, 1.0]))), "of every pose: cTo must be a rigid transform"),
    (_poses(entry(np.diag([-1.0, 1.0, 1.0, 1.0]))), "of every pose: cTo must hold a rotation"),
    (_poses(entry(np.zeros((4, 4)))), "of every pose: cTo must be a rigid transform"),
    (_poses(entry(score=float("inf"))), "of every pose: score must be a finite number"),
    (_poses(entry(score="good")), "of every pose: score must be a finite number"),
    (_poses(entry(boundingBox=None)), "of every pose: boundingBox must"),
]


def test_answers_that_make_no_sense_are_told() -> None:
    """And the next one is understood."""
    answers = iter([reply for answer, _ in ANSWERS for reply in (answer, _poses(entry(_POSE)))])
    with StandInServer(lambda request: next(answers)) as server, _client(server) as client:
        for _, message in ANSWERS:
            assert_refused(
                (partial(client.poses, _PICTURE, ["cube"], boxes=[_BOX]), f"...{message}..."), error=PoseServerError
            )
            (seen,) = client.poses(_PICTURE, ["cube"], boxes=[_BOX])
            np.testing.assert_allclose(seen.pose, _POSE, atol=1e-6)


@pytest.mark.parametrize("options", [{"delay": 30.0}, {"trickle": 0.02}], ids=["silent", "byte by byte"])
def test_a_server_that_does_not_come_to_an_end_holds_nobody(options: dict[str, float]) -> None:
    with StandInServer(lambda request: _poses(entry(_POSE)) * 100, **options) as server:
        client = _client(server, timeout=0.3)
        # the connection itself is quick
        server.trickle, trickle = 0.0, server.trickle
        client.objects()
        server.trickle = trickle
        with pytest.raises(PoseServerError, match=r"did not answer within 0\.3 s"):
            client.poses(_PICTURE, ["cube"], boxes=[_BOX])
        client.close()


def test_a_server_that_goes_away_is_told_and_found_again() -> None:
    server = StandInServer(lambda request: _poses(entry(_POSE)))
    client = _client(server)
    assert len(client.poses(_PICTURE, ["cube"], boxes=[_BOX])) == 1
    port = server.port
    server.stop()
    assert_refused(
        (lambda: client.poses(_PICTURE, ["cube"], boxes=[_BOX]), "...no connection to a pose server at 127..."),
        (lambda: client.objects(), f"...no connection to a pose server at 127.0.0.1:{port}..."),
        error=PoseServerError,
    )


def test_requests_that_make_no_sense_are_not_sent() -> None:
    client = MegaPoseClient(_CAMERA, port=1)

    def ask(picture=_PICTURE, labels=("cube",), **options):
        client.poses(picture, labels, **{"boxes": [_BOX], **options})

    cases = (
        ({"labels": []}, "labels must be at least one name"),
        ({"labels": "cube"}, "labels must be at least one name"),
        ({"labels": ["Würfel"]}, "labels must be at least one name of ASCII"),
        ({"boxes": None}, "exactly one of boxes and initial must be given"),
        ({"initial": [np.eye(4)]}, "exactly one of boxes and initial must be given"),
        ({"boxes": [(1.0, 2.0)]}, "boxes must have shape (1, 4)"),
        ({"boxes": None, "initial": [np.zeros((4, 4))]}, "initial must have the last row"),
        ({"picture": _PICTURE[:5]}, "picture must be uint8 of shape (30, 40)"),
        ({"depth": np.zeros((30, 40))}, "depth must be uint16 of shape (30, 40), got float64"),
        ({"depth": np.zeros((30, 40), np.uint16), "depth_scale": 0.0}, "depth_scale must be positive"),
        ({"refinements": -1}, "refinements must be a whole number"),
    )
    assert_refused(*((partial(ask, **change), f"{message}...") for change, message in cases))


def test_clients_are_checked() -> None:
    bent = PinholeCamera(40, 30, 50.0, 51.0, 20.0, 14.0, (-0.1, 0.0, 0.0, 0.0, 0.0))
    assert_refused(
        (lambda: MegaPoseClient(bent), "...camera must be without distortion..."),
        (lambda: MegaPoseClient(_CAMERA, port=70000), "...port must be a whole number from 1 to 65535..."),
        (lambda: MegaPoseClient(_CAMERA, timeout=0.0), "...timeout must be positive..."),
        (lambda: MegaPoseClient(_CAMERA, host=""), "...host must be a name..."),
    )


def _source(server: StandInServer, grab: Callable[[float], Any] = lambda t: _PICTURE, **options: Any) -> MegaPoseSource:
    return MegaPoseSource(_client(server), grab, "cube", box=_BOX, **options)


def test_a_source_follows_the_object_from_its_last_pose() -> None:
    camera_pose = pose_from_rpy((0.0, 0.0, 1.0), (np.pi, 0.0, 0.0))
    with StandInServer(lambda request: _poses(entry(_POSE))) as server:
        source = _source(server, rate=5.0, wait=True, camera_pose=camera_pose)
        assert isinstance(source, PoseSource)
        seen = [m for t in np.arange(0.0, 1.0, 0.05) for m in source.poll(t)]
        source.close()
    assert [m.time for m in seen] == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8], abs=0.051)
    for m in seen:
        assert m.usable
        assert m.quality == 0.9
        np.testing.assert_allclose(m.pose, camera_pose @ _POSE, atol=1e-6)
    assert ["detections" in request for request in server.requests] == [True, False, False, False, False]


def test_failures_are_measurements_without_a_pose() -> None:
    good = _poses(entry(_POSE))
    replies = iter([good, packed("RERR", text("lost")), good, _poses(entry(_POSE, 0.1)), good])
    with StandInServer(lambda request: next(replies)) as server:
        source = _source(server, rate=10.0, wait=True)
        seen, errors = [], []
        for k in range(5):
            seen += source.poll(0.2 * k)
            errors.append(source.error)
        source.close()
    assert [m.pose is not None for m in seen] == [True, False, True, False, True]
    assert [m.quality for m in seen] == [0.9, 0.0, 0.9, 0.1, 0.9]
    assert [error is None for error in errors] == [True, False, True, True, True]
    assert "lost" in str(errors[1])
    assert ["detections" in request for request in server.requests] == [True, False, True, False, True]


def test_polls_do_not_wait_and_skip_pictures_meanwhile() -> None:
    release = threading.Event()

    def reply(request: dict[str, Any]) -> bytes:
        release.wait(60.0)
        return _poses(entry(_POSE))

    with StandInServer(reply) as server:
        source = _source(server, rate=100.0)
        # a poll that waited would get the client's time-out as a measurement
        assert [m for k in range(20) for m in source.poll(0.01 * k)] == []
        release.set()
        seen, t = [], 0.2
        while not seen and t < 60.0:
            time.sleep(0.01)
            t += 0.01
            seen = source.poll(t)
        assert (seen[0].time, seen[0].available) == (0.0, t)
        assert seen[0].usable
        release.clear()
        source.reset()  # a request is on its way: its answer is dropped
        assert source.poll(0.0) == []
        release.set()
        source.close()


def test_no_picture_is_nothing_seen_and_times_do_not_go_back() -> None:
    with StandInServer(lambda request: None) as server:
        source = _source(server, grab=lambda t: None)
        (m,) = source.poll(1.0)
        assert (m.time, m.pose) == (1.0, None)
        assert_refused((lambda: source.poll(0.5), "...t must not be before the last time..."))
        source.close()
        assert_refused(
            (lambda: source.poll(2.0), "...the source is closed..."),
            (
                lambda: MegaPoseSource(_client(server), lambda t: None, "cube", box=(1.0, 2.0)),
                "...box must have shape (4,)...",
            ),
        )


def test_half_a_message_is_told_in_time_and_the_next_is_whole() -> None:
    answers = iter([_poses(entry(_POSE))[:-7], _poses(entry(_POSE))])
    with StandInServer(lambda request: next(answers)) as server, _client(server, timeout=0.3) as client:
        with pytest.raises(PoseServerError, match=r"did not answer within 0\.3 s"):
            client.poses(_PICTURE, ["cube"], boxes=[_BOX])
        (seen,) = client.poses(_PICTURE, ["cube"], boxes=[_BOX])
        np.testing.assert_allclose(seen.pose, _POSE, atol=1e-6)


def test_a_second_answer_is_not_taken_for_that_to_the_next_request() -> None:
    old = np.eye(4)
    answers = iter([_poses(entry(old)) * 2, _poses(entry(_POSE))])
    with StandInServer(lambda request: next(answers)) as server, _client(server) as client:
        (first,) = client.poses(_PICTURE, ["cube"], boxes=[_BOX])
        np.testing.assert_allclose(first.pose, old, atol=1e-6)
        (seen,) = client.poses(_PICTURE, ["cube"], boxes=[_BOX])
        np.testing.assert_allclose(seen.pose, _POSE, atol=1e-6)


def test_a_server_that_was_started_again_is_found_without_a_failure() -> None:
    server = StandInServer(lambda request: _poses(entry(_POSE)))
    client = _client(server)
    client.objects()
    for connection in server._connections:
        connection.shutdown(socket.SHUT_RDWR)
    assert client.objects()
    client.close()
    server.stop()


def test_a_stranger_on_the_port_is_no_pose_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = MegaPoseClient(_CAMERA, port=listening.getsockname()[1], timeout=0.2)
        with pytest.raises(PoseServerError, match=r"did not answer within 0\.2 s"):
            client.objects()
