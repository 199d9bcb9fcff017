"""Makes the animated PNG fixtures, with Pillow 13. Samples follow the formulas below, which the tests repeat."""
from PIL import Image

W, H = 13, 9


def rgba(x, y, frame):
    inside = 2 <= x < 9 and 3 <= y < 8
    moved = frame if inside else 0
    return 19 * x, 29 * y, (5 * x * y + 60 * moved) % 256, max(0, 255 - 15 * x - 40 * moved)


def index(x, y, frame):
    return (x + 5 * y + (frame if x > 3 else 0)) % 16


def frames(mode, pixel, count=3):
    for frame in range(count):
        values = [pixel(x, y, frame) for y in range(H) for x in range(W)]
        image = Image.new(mode, (W, H))
        if mode == "P":
            image.putpalette([v for i in range(16) for v in (17 * i, 255 - i, 3 * i)])
        image.putdata(values)
        yield image


def save(name, images, **options):
    first, *others = images
    first.save(name, save_all=True, append_images=others, **options)


# Only the inside changes, so that the later frames are smaller than the canvas.
save("animation.png", frames("RGBA", rgba), duration=[100, 5, 250], loop=3, blend=0, disposal=0)
save("animation-over.png", frames("RGBA", rgba), duration=40, loop=0, blend=1, disposal=[0, 2, 1])
save("animation-default.png", frames("P", index), duration=200, loop=1, default_image=True,
     transparency=bytes(20 * i for i in range(12)))
