"""Output: any size, any bytes, any chunking; short, safe and exact about what is missing."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from pygent.runtime import OutputLimits, Runtime
from pygent.runtime.output import MARKER_ROOM, Capture, clean
from pygent.runtime.outputs import Outputs

HEAD, TAIL = 300, 600
LIMITS = OutputLimits(head=HEAD, tail=TAIL, live=500, whole=5_000)


def capture(data: bytes, sizes: list[int], **options) -> Capture:
    """Feed bytes in pieces of the given sizes, over and over."""
    taken = Capture(LIMITS, **options)
    start = 0
    for turn in range(len(data) + 1):
        if start >= len(data):
            break
        size = sizes[turn % len(sizes)]
        taken.feed(data[start : start + size])
        start += size
    taken.finish()
    return taken


BYTES = st.one_of(
    st.binary(max_size=200),
    st.binary(min_size=1, max_size=12).flatmap(
        lambda piece: st.integers(1, 3_000 // len(piece)).map(lambda times: piece * times)
    ),
    st.text(max_size=40).flatmap(lambda text: st.integers(1, 60).map(lambda n: text.encode() * n)),
)
SIZES = st.lists(st.integers(1, 700), min_size=1, max_size=5)


@given(BYTES, SIZES)
def test_cap_is_exact(data, sizes):
    """The text is never longer than the limit; head, tail and the number left out are right."""
    taken = capture(data, sizes)
    text, omitted = taken.text()
    assert len(text) <= HEAD + TAIL
    assert taken.total == len(data)
    if len(data) <= HEAD + TAIL:
        assert (text, omitted) == (clean(data), 0)
        return
    marker = re.search(r"^\[… (\d+) of (\d+) bytes omitted\]$", text, re.MULTILINE)
    assert marker is not None
    assert (int(marker[1]), int(marker[2])) == (omitted, len(data))
    before, after = text[: marker.start()], text[marker.end() + 1 :]
    shown = len(data) - omitted
    # A character that a cut would halve is left out whole: at most three bytes on each side.
    heads = [
        size
        for size in range(HEAD - 3, HEAD + 1)
        if before.rstrip("\n") == clean(data[:size]).rstrip("\n")
    ]
    assert any(after == clean(data[len(data) - (shown - size) :]) for size in heads)
    assert HEAD + TAIL - MARKER_ROOM - 6 <= shown <= HEAD + TAIL - MARKER_ROOM


@given(BYTES, SIZES)
def test_text_is_safe(data, sizes):
    """No control character is left, and the text is valid."""
    text, _ = capture(data, sizes).text()
    assert text.encode().decode() == text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


@given(st.text(max_size=200), SIZES)
def test_characters_survive_any_chunking(text, sizes):
    """A character that is split over reads is whole, in the text and for who watches."""
    pieces: list[str] = []
    data = text.encode()[:500].decode(errors="ignore").encode()
    taken = capture(data, sizes, on_output=pieces.append)
    assert taken.text()[0] == clean(data)
    assert "".join(pieces) == clean(data)


@given(BYTES, SIZES)
def test_watching_is_capped(data, sizes):
    """Who watches gets the first part, and one line that there is more."""
    pieces: list[str] = []
    capture(data, sizes, on_output=pieces.append)
    assert len("".join(pieces)) <= LIMITS.live + 60
    assert ("more output" in "".join(pieces)) == (len(data) > LIMITS.live)


def test_whole_is_kept():
    """What does not fit is kept in a file, and can be read from any offset."""
    outputs = Outputs()
    data = bytes(range(33, 127)) * 20
    taken = capture(data, [700], outputs=outputs)
    text, _ = taken.text()
    assert taken.whole is not None
    found = outputs.parse(taken.whole)
    assert found is not None
    assert outputs.read(found[0]) == data
    assert taken.read(1000) == data[1000:]
    assert f'read_file("{taken.whole}@{HEAD}") goes on here' in text
    assert "is the whole]" in text
    outputs.close()
    outputs.close()
    assert outputs.parse(taken.whole) is None


def test_whole_is_bounded_and_says_so():
    """The copy on disk has a limit too, and the text does not call it whole."""
    outputs = Outputs()
    taken = capture(b"x" * 20_000, [777], outputs=outputs)
    assert len(taken.read(0)) == LIMITS.whole
    assert f"is the first {LIMITS.whole} bytes]" in taken.text()[0]
    outputs.close()


def test_short_output_leaves_no_file():
    """Output that fits touches no disk."""
    outputs = Outputs()
    taken = capture(b"x" * (HEAD + TAIL), [64], outputs=outputs)
    assert taken.whole is None
    assert taken.read(10) == b"x" * (HEAD + TAIL - 10)


def test_full_disk_costs_the_copy_only(monkeypatch):
    """Where the copy cannot be made, the start and the end are still there."""
    outputs = Outputs()

    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs, "create", full)
    text, _ = capture(b"x" * 5_000, [700], outputs=outputs).text()
    assert re.search(r"\[… \d+ of 5000 bytes omitted\]", text)


def test_line_ends_and_controls():
    """Lines end in one way; every other control becomes its picture."""
    assert clean(b"a\r\nb\rc\0\x1b[31m\x7f\xc2\x85\t\n") == "a\nb␍c␀␛[31m␡\ufffd\t\n"


def test_model_reads_on():
    """The names in the text are what `read_file` takes, and each page names the next."""
    with Runtime(use_docker=False) as rt:
        text = rt.bash("seq 1 30000")
        name = re.search(r'read_file\("(output:\w+@\d+)"\)', text)
        seen = text[: text.index("[…")].removeprefix("$ seq 1 30000\n")
        while name is not None:
            page = rt.read_file(name[1])
            seen = seen.rstrip("\n") if len(seen) == 10_001 else seen
            name = re.search(r'\[… \d+ bytes follow: read_file\("(output:\w+@\d+)"\)\]$', page)
            seen += page[: name.start()] if name else page
        numbers = "".join(f"{n}\n" for n in range(1, 30001))
        assert seen.replace("\n", "") == numbers.replace("\n", "")
        whole = re.search(r'"(output:\w+)" is', text)
        assert whole is not None
        assert rt.read_file(whole[1]) == numbers
        rt.cleanup()
        assert rt.read_file(whole[1]) == f"file {whole[1]} not found"


def test_file_with_such_a_name():
    """A file of the workspace may be called like an output."""
    with Runtime(use_docker=False) as rt:
        rt.write_file("output:abcdef", "mine")
        assert rt.read_file("output:abcdef") == "mine"


GROWTH = """
import sys, time
from pygent.runtime import Runtime
rt = Runtime(use_docker=False)
rt.bash("true")
peak = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
before, began = peak(), time.monotonic()
text = rt.bash(sys.argv[1], timeout=100)
rt.cleanup()
print(peak() - before, len(text), time.monotonic() - began, "omitted" in text, text[-20:].strip())
"""


def grow(command: str) -> list[str]:
    """Run a command in a process of its own; returns growth in KiB, length, seconds, the end."""
    argv = [sys.executable, "-c", GROWTH, command]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("size", [100_000_000, pytest.param(500_000_000, marks=pytest.mark.deep)])
def test_memory_stays_flat(size):
    """Output by the hundred megabytes does not grow the process, and the end is there."""
    growth, length, _, omitted, *end = grow(f"yes 0123456789 | head -c {size}; echo; echo END")
    assert int(growth) < 64 << 10
    assert int(length) < 31_000
    assert omitted == "True"
    assert end[-1] == "END"


def test_no_newline_is_no_problem():
    """A line of 200 MB is handled like any other output."""
    growth, length, seconds, omitted, *_ = grow("head -c 200000000 /dev/zero | tr '\\0' a")
    assert int(growth) < 64 << 10
    assert int(length) < 31_000
    assert float(seconds) < 30
    assert omitted == "True"


def test_control_reading_all_grows():
    """Control: a runner that reads everything grows by the output."""
    script = (
        "import subprocess\n"
        # Not ru_maxrss: a new process inherits that of the large one that started it.
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "before = peak()\n"
        "subprocess.run('yes | head -c 100000000', shell=True, capture_output=True, text=True)\n"
        "print(peak() - before)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(out.stdout) > 64 << 10


def test_split_characters():
    """Characters that arrive byte by byte are whole."""
    script = (
        "import sys\n"
        "for byte in 'é漢😀'.encode() * 1000:\n"
        "    sys.stdout.buffer.write(bytes([byte])); sys.stdout.buffer.flush()\n"
    )
    with Runtime(use_docker=False) as rt:
        rt.write_file("s.py", script)
        pieces: list[str] = []
        text = rt.bash("python3 s.py", stream=pieces.append)
    for seen in (text, "".join(pieces)):
        assert seen.count("\U0001f600") == 1000
        assert "\ufffd" not in seen


def test_control_decoding_each_piece_breaks():
    """Control: decoding each read for itself loses split characters."""
    assert "\ufffd" in "".join(bytes([byte]).decode(errors="replace") for byte in "é".encode())
