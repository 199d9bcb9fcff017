"""Makes the fixtures beside this file: python3 make.py, with Pillow and pyvips."""

import pathlib

import pyvips
from PIL import Image

directory = pathlib.Path(__file__).parent
width, height = 40, 24


def pixels(count, level):
    """Returns samples of 8 bits: those of a pixel are level(x, y, k) for each of `count` channels."""
    samples = (level(x, y, k) for y in range(height) for x in range(width) for k in range(count))
    return bytes(sample & 255 for sample in samples)


def color(x, y, k):
    return (6 * x, 10 * y, x * y, 255 - 5 * x)[k]


rgb = Image.frombytes("RGB", (width, height), pixels(3, color))
rgba = Image.frombytes("RGBA", (width, height), pixels(4, color))
cmyk = Image.frombytes("CMYK", (width, height), pixels(4, color))
gray = Image.frombytes("L", (width, height), pixels(1, lambda x, y, k: 5 * x + 2 * y))
bilevel = Image.frombytes("L", (width, height), pixels(1, lambda x, y, k: 255 * (x * y % 3 == 0))).convert("1")
palette = Image.frombytes("P", (width, height), pixels(1, lambda x, y, k: (x + y) % 16))
palette.putpalette([value for i in range(16) for value in (16 * i, 255 - 16 * i, 8 * i)])


def save(image, name, compression, **options):
    image.save(directory / name, compression=compression, **options)


save(rgb, "lzw.tif", "tiff_lzw", tiffinfo={317: 2, 278: 7}, dpi=(300, 150))
save(rgba, "deflate.tif", "tiff_adobe_deflate", tiffinfo={278: 5})
save(cmyk, "cmyk.tif", "tiff_lzw")
save(palette, "packbits.tif", "packbits")
save(bilevel, "group3.tif", "group3")
save(bilevel, "group4.tif", "group4", tiffinfo={278: 9})
save(rgb, "jpeg-rgb.tif", "jpeg", quality=90, tiffinfo={278: 16})
save(gray, "pages.tif", "tiff_lzw", save_all=True, append_images=[rgb, bilevel])

image = pyvips.Image.new_from_memory(rgb.tobytes(), width, height, 3, "uchar").copy(interpretation="srgb")
image.tiffsave(
    str(directory / "tiles.tif"), tile=True, tile_width=16, tile_height=16, compression="deflate",
    predictor="horizontal")
image.tiffsave(str(directory / "tiles-jpeg.tif"), tile=True, tile_width=16, tile_height=16, compression="jpeg", Q=75)
image.tiffsave(str(directory / "jpeg.tif"), compression="jpeg", Q=75)
image.tiffsave(str(directory / "big.tif"), bigtiff=True, compression="deflate")
deep = (image.cast("ushort") * 257).cast("ushort").copy(interpretation="rgb16")
deep.tiffsave(str(directory / "deep.tif"), compression="lzw", predictor="horizontal")

for name in ("jpeg", "jpeg-rgb", "tiles-jpeg"):
    decoded = Image.open(directory / f"{name}.tif").convert("RGB")
    (directory / f"{name}.rgb").write_bytes(decoded.tobytes())
