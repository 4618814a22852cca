"""What may call itself a picture, and what is kept of it."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from annotator.core import pictures
from annotator.core.pictures import BadPicture, clean


def drawn(form: str = "PNG", size: tuple[int, int] = (6, 4), mode: str = "RGB", **saved: object) -> bytes:
    out = BytesIO()
    Image.new(mode, size, 120).save(out, form, **saved)  # type: ignore[arg-type]
    return out.getvalue()


def png_of(width: int, height: int) -> bytes:
    """A PNG whose header promises that many pixels, in a few bytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_every_kind_becomes_a_png_of_the_same_size(form: str) -> None:
    kept = clean(drawn(form))
    with Image.open(BytesIO(kept.data)) as opened:
        assert (opened.format, opened.size) == ("PNG", (6, 4))
    assert (kept.width, kept.height) == (6, 4)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_mode_of_a_png_can_be_kept(mode: str) -> None:
    assert clean(drawn(mode=mode)).width == 6


def test_sixteen_bits_of_grey_become_eight() -> None:
    out = BytesIO()
    Image.new("I;16", (2, 2), 0x8000).save(out, "PNG")
    with Image.open(BytesIO(clean(out.getvalue()).data)) as opened:
        assert opened.getpixel((0, 0)) == 0x80


def test_what_is_kept_is_kept_as_it_is_the_second_time() -> None:
    once = clean(drawn("JPEG"))
    assert clean(once.data) == once


def test_metadata_do_not_come_along() -> None:
    note = PngInfo()
    note.add_text("Comment", "taken at home")
    assert b"taken at home" not in clean(drawn(pnginfo=note)).data


def test_what_hangs_behind_the_picture_does_not_come_along() -> None:
    assert b"<script>" not in clean(drawn() + b"<script>alert(1)</script>").data


def test_a_photo_stands_upright_without_its_note_on_how_it_was_held() -> None:
    turned = Image.new("RGB", (6, 4))
    exif = turned.getexif()
    exif[0x0112] = 6
    out = BytesIO()
    turned.save(out, "JPEG", exif=exif)
    assert (clean(out.getvalue()).width, clean(out.getvalue()).height) == (4, 6)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a picture",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"\x89PNG\r\n\x1a\n",
        drawn()[:40],
        b"%!PS-Adobe-3.0 EPSF-3.0\n",
        drawn("BMP"),
        drawn("TIFF"),
    ],
    ids=["nothing", "text", "svg", "a head", "cut short", "eps", "bmp", "tiff"],
)
def test_what_is_no_picture_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(BadPicture, match="This is no PNG, JPEG, WebP or GIF"):
        clean(data)


@pytest.mark.parametrize("size", [(60_000, 60_000), (8_001, 1), (5_000, 5_000)])
def test_a_bomb_of_pixels_is_refused_by_its_head(size: tuple[int, int]) -> None:
    with pytest.raises(BadPicture, match="A picture has at most"):
        clean(png_of(*size))


@pytest.mark.parametrize(
    ("cap", "said"),
    [
        ("MAX_BYTES", "A picture has at most 0 MB"),
        ("MAX_KEPT", "Written as PNG it takes more than 0 MB; scale it down"),
    ],
)
def test_a_picture_of_too_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, cap: str, said: str) -> None:
    monkeypatch.setattr(pictures, cap, 50)
    with pytest.raises(BadPicture, match=said):
        clean(drawn())
