"""Writes pillow-resize.txt: what Pillow makes of the pattern image. Usage: python3 make-pillow-resize.py"""
from pathlib import Path

from PIL import Image

WIDTH, HEIGHT = 23, 17
FILTERS = {
    "box": Image.BOX,
    "bilinear": Image.BILINEAR,
    "catmullRom": Image.BICUBIC,
    "lanczos3": Image.LANCZOS,
}
SIZES = [(10, 8), (31, 25), (23, 6), (5, 4), (2, 3)]


def pixel(x, y):
    """The pattern of the tests' `PixelBuffer.pattern`."""
    # Far enough from 0 and 255 that no overshoot is cut off between the passes, which is Pillow's own.
    red, green, blue, alpha = x * 7 + y * 3, x * x + y * 5, (x ^ y) * 9, x * 11 + y * 13
    return (64 + (red & 127), 64 + (green & 127), 64 + (blue & 127), 128 + (alpha & 63))


def images():
    pixels = [pixel(x, y) for y in range(HEIGHT) for x in range(WIDTH)]
    yield "gray8", Image.frombytes("L", (WIDTH, HEIGHT), bytes(p[1] for p in pixels))
    yield "rgbx8", Image.frombytes("RGB", (WIDTH, HEIGHT), bytes(c for p in pixels for c in p[:3]))
    # RGBa: premultiplied. Image.resize converts RGBA to it too, but forgets reducing_gap on the way.
    yield "rgba8", Image.frombytes("RGBA", (WIDTH, HEIGHT), bytes(c for p in pixels for c in p)).convert("RGBa")


with open(Path(__file__).parent / "pillow-resize.txt", "w") as out:
    for format, image in images():
        for name, filter in FILTERS.items():
            for size in SIZES:
                result = image.resize(size, filter)
                out.write(f"{format} {name} {size[0]} {size[1]} {result.tobytes().hex()}\n")
