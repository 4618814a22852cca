"""Pictures that belong to problems: decoded and written anew, so that nothing but the picture is kept.

What comes in may be anything that calls itself a picture: a bomb of pixels, a page with a script, a file that is two
things at once. What is kept is a PNG of our own making, without metadata; the same pixels give the same bytes.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageOps

#: What is read; SVG is a program, not a picture.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
MEDIA_TYPE = "image/png"
MAX_BYTES = 20 * 1024 * 1024
MAX_PIXELS = 16_000_000
MAX_SIDE = 8_000
#: What one picture may take once it is written anew.
MAX_KEPT = 8 * 1024 * 1024
_MODES = {"1": "L", "L": "L", "I;16": "L", "RGB": "RGB", "YCbCr": "RGB", "CMYK": "RGB"}
#: How an export names a kept picture, and how a row may name one that the project has.
_KEPT = re.compile(r"(?:images/)?(?P<sha256>[0-9a-f]{64})(?:\.png)?")


class BadPicture(ValueError):
    """What was given is no picture that can be kept; the message says why, in a sentence."""


@dataclass(frozen=True)
class Picture:
    """A PNG, its size in pixels, and the hash of its bytes."""

    data: bytes
    width: int
    height: int
    sha256: str


def clean(data: bytes) -> Picture:
    """The picture, written anew; of an animation its first frame. Raises BadPicture."""
    if len(data) > MAX_BYTES:
        raise BadPicture(f"A picture has at most {MAX_BYTES // 1024**2} MB.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(BytesIO(data), formats=FORMATS) as opened:
                _check_size(*opened.size)  # before a pixel is decoded
                shown = ImageOps.exif_transpose(opened)
                image = _eight_bits(shown).convert(_MODES.get(shown.mode, "RGBA"))
    except BadPicture:
        raise
    except Image.DecompressionBombError as error:
        raise BadPicture(f"A picture has at most {MAX_PIXELS // 10**6} million pixels.") from error
    except Exception as error:
        raise BadPicture("This is no PNG, JPEG, WebP or GIF that can be read.") from error
    written = BytesIO()
    bare = Image.new(image.mode, image.size)
    bare.paste(image)
    bare.save(written, "PNG", optimize=True)
    kept = written.getvalue()
    if len(kept) > MAX_KEPT:
        raise BadPicture(f"Written as PNG it takes more than {MAX_KEPT // 1024**2} MB; scale it down.")
    return Picture(kept, *image.size, hashlib.sha256(kept).hexdigest())


def _eight_bits(image: Image.Image) -> Image.Image:
    """Of 65,536 greys the 256 that are kept: Pillow alone would make all but the darkest of them white."""
    return image.point(lambda grey: grey * (1 / 256)) if image.mode.startswith("I;16") else image


def kept_name(sha256: str) -> str:
    """Where an export puts a kept picture.

    >>> kept_name("ab")
    'images/ab.png'
    """
    return f"images/{sha256}.png"


def kept_sha256(name: str) -> str | None:
    """The hash that a row's name for a picture holds, or None where it is a file's name.

    >>> kept_sha256("images/" + 64 * "a" + ".png") == 64 * "a"
    True
    >>> kept_sha256("images/triangle.png") is None
    True
    """
    found = _KEPT.fullmatch(name)
    return found["sha256"] if found else None


def _check_size(width: int, height: int) -> None:
    if width > MAX_SIDE or height > MAX_SIDE or width * height > MAX_PIXELS:
        raise BadPicture(
            f"A picture has at most {MAX_SIDE:,} pixels a side and {MAX_PIXELS // 10**6} million in all; "
            f"this has {width:,} × {height:,}."
        )
