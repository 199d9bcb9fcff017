"""Makes the PNG fixtures. Samples follow the formulas below, which the tests repeat."""
import os
import subprocess

from PIL import Image, ImageCms

W, H = 13, 9


def rgba(x, y):
    return 19 * x, 29 * y, 5 * x * y % 256, max(0, 255 - 15 * x - 13 * y)


def wide(x, y):
    """Four samples of 16 bits. Their low bytes are never those that widening 8 bits would give."""
    return 4999 * x + 37 * y, 7001 * y + 113 * x, 500 * x * y + 77, 65535 - 4001 * x - 1999 * y


def samples(pixel, size=1):
    return b"".join(v.to_bytes(size, "big") for y in range(H) for x in range(W) for v in pixel(x, y))


def pillow(name, mode, pixel, palette=None, **options):
    image = Image.frombytes(mode, (W, H), samples(pixel))
    if palette:
        image.putpalette(palette)
    image.save(name, **options)


def magick(name, kind, depth, color_type, pixel, written=None):
    size = 2 if depth == 16 else 1
    define = ["-define", f"png:color-type={color_type}", "-define", f"png:bit-depth={written or depth}"]
    layout = ["-size", f"{W}x{H}", "-depth", str(depth), "-endian", "MSB"]
    subprocess.run(["convert", *layout, f"{kind}:-", "-strip", *define, name], input=samples(pixel, size), check=True)


for bits in (1, 2, 4):
    top = 2**bits - 1
    magick(f"gray{bits}.png", "gray", 8, 0, lambda x, y: ((3 * x + 5 * y) % (top + 1) * 255 // top,), bits)
pillow("gray8.png", "L", lambda x, y: (19 * x + y,))
magick("gray16.png", "gray", 16, 0, lambda x, y: wide(x, y)[:1])
pillow("gray-alpha.png", "LA", lambda x, y: (19 * x + y, rgba(x, y)[3]))
pillow("rgb.png", "RGB", lambda x, y: rgba(x, y)[:3])
pillow("rgba.png", "RGBA", rgba)
magick("rgb16.png", "rgb", 16, 2, lambda x, y: wide(x, y)[:3])
magick("rgba16.png", "rgba", 16, 6, wide)

for bits in (1, 2, 4, 8):
    count = 2**bits
    colors = [v for i in range(count) for v in (i * 255 // (count - 1), 255 - i, 3 * i % 256)]
    pillow(f"palette{bits}.png", "P", lambda x, y: ((x + 5 * y) % count,), colors, bits=bits)
colors = [v for i in range(16) for v in (17 * i, 255 - i, 3 * i)]
pillow("palette-alpha.png", "P", lambda x, y: ((x + 5 * y) % 16,), colors, bits=4,
       transparency=bytes(20 * i for i in range(12)))

pillow("gray-transparent.png", "L", lambda x, y: ((x + y) % 4 * 85,), transparency=85)
pillow("rgb-transparent.png", "RGB", lambda x, y: ((x + y) % 4 * 85, 10, 20), transparency=(170, 10, 20))

for name in ("rgba", "gray1", "palette4", "rgb16"):
    out = f"{name}-interlaced.png"
    subprocess.run(["optipng", "-quiet", "-clobber", "-nb", "-nc", "-np", "-i", "1", f"{name}.png", "-out", out],
                   check=True)

profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
open("profile.icc", "wb").write(profile)
pillow("profile.png", "RGB", lambda x, y: rgba(x, y)[:3], icc_profile=profile)

for name, tag in (("exif", "-IFD0:Orientation#=6"), ("xmp", "-XMP-tiff:Orientation#=3")):
    if os.path.exists(f"{name}.png"):
        os.remove(f"{name}.png")
    subprocess.run(["exiftool", "-q", tag, "-o", f"{name}.png", "rgba.png"], check=True)
