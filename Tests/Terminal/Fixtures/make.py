"""Makes the golden texts: what a terminal is to be sent for one picture.

Written after the specifications and the documentation of TerminalRenderer, not after its code. Run in this folder.
"""

import base64
import math
from fractions import Fraction

WIDTH, HEIGHT = 24, 16


def pixel(x, y):
    """Straight RGBA: a gradient, with a transparent corner and a half transparent stripe."""
    alpha = 0 if x < 6 and y < 4 else 128 if 10 <= y < 12 else 255
    return (x * 11, y * 17, (x * y) % 256, alpha)


def half_up(value):
    return math.floor(value + Fraction(1, 2))


def fitted(width, height):
    factor = min(Fraction(width, WIDTH), Fraction(height, HEIGHT), 1)
    return max(1, half_up(WIDTH * factor)), max(1, half_up(HEIGHT * factor))


def reduced(size):
    """Averages of the pixels that a pixel covers, over black."""
    columns = [WIDTH * i // size[0] for i in range(size[0] + 1)]
    rows = [HEIGHT * i // size[1] for i in range(size[1] + 1)]
    picture = []
    for y in range(size[1]):
        line = []
        for x in range(size[0]):
            covered = [
                pixel(u, v)
                for v in range(rows[y], rows[y + 1])
                for u in range(columns[x], columns[x + 1])
            ]
            line.append(
                tuple(half_up(Fraction(sum(p[c] * p[3] for p in covered), 255 * len(covered))) for c in range(3))
            )
        picture.append(line)
    return picture


LEVELS = [0, 95, 135, 175, 215, 255]


def nearest(color):
    """The nearest of xterm's cube and grays. Of equals one of the cube, of those the brighter one."""
    best = None
    for index in range(16, 256):
        if index < 232:
            i = index - 16
            there = (LEVELS[i // 36], LEVELS[i // 6 % 6], LEVELS[i % 6])
        else:
            there = (8 + (index - 232) * 10,) * 3
        error = sum((a - b) ** 2 for a, b in zip(color, there))
        rank = (error, index >= 232, -index)
        if best is None or rank < best:
            best = rank
    return -best[2]


def paint(color, depth, layer):
    if depth == "truecolor":
        return "%d;2;%d;%d;%d" % ((layer,) + color)
    return "%d;5;%d" % (layer, nearest(color))


def luminance(color):
    return (color[0] * 2126 + color[1] * 7152 + color[2] * 722 + 5000) // 10000


def blocks(columns, rows, depth):
    picture = reduced(fitted(columns, rows * 2))
    lines = []
    for y in range(0, len(picture), 2):
        upper = picture[y]
        lower = picture[y + 1] if y + 1 < len(picture) else None
        if depth == "none":
            pairs = zip(upper, lower or upper)
            lines.append("".join(" .:-=+*#%@"[(luminance(a) + luminance(b)) // 2 * 10 // 256] for a, b in pairs))
            continue
        line, before = "", (None, None)
        for x in range(len(upper)):
            now = (paint(upper[x], depth, 38), paint(lower[x], depth, 48) if lower else None)
            codes = [new for new, old in zip(now, before) if new is not None and new != old]
            if codes:
                line += "\x1b[" + ";".join(codes) + "m"
            line += "▀"
            before = now
        lines.append(line + "\x1b[0m")
    return "".join(line + "\n" for line in lines)


def framed(picture, cell_height, text):
    rows = -(-len(picture) // cell_height)
    return "\n" * rows + "\x1b[%dA\x1b7" % rows + text + "\x1b8\x1b[%dB" % rows


def kitty(columns, rows, cell):
    picture = reduced(fitted(columns * cell[0], rows * cell[1]))
    data = base64.b64encode(bytes(s for line in picture for p in line for s in p)).decode()
    text = ""
    for start in range(0, len(data), 4096):
        first = "a=T,f=24,s=%d,v=%d,i=7,p=1,C=1," % (len(picture[0]), len(picture)) if start == 0 else ""
        more = 1 if start + 4096 < len(data) else 0
        text += "\x1b_G%sq=2,m=%d;%s\x1b\\" % (first, more, data[start : start + 4096])
    return framed(picture, cell[1], text)


def sixel(columns, rows, cell):
    picture = reduced(fitted(columns * cell[0], rows * cell[1]))
    colors = []
    for line in picture:
        for color in line:
            if color not in colors:
                colors.append(color)
    assert len(colors) <= 256
    text = '\x1bP0;1;0q"1;1;%d;%d' % (len(picture[0]), len(picture))
    for index, color in enumerate(colors):
        text += "#%d;2;%d;%d;%d" % ((index,) + tuple(half_up(Fraction(s * 100, 255)) for s in color))
    bands = []
    for top in range(0, len(picture), 6):
        band = picture[top : top + 6]
        parts = []
        for index, color in enumerate(colors):
            masks = [sum(1 << y for y in range(len(band)) if band[y][x] == color) for x in range(len(picture[0]))]
            while masks and masks[-1] == 0:
                masks.pop()
            if not masks:
                continue
            part, x = "#%d" % index, 0
            while x < len(masks):
                end = x
                while end < len(masks) and masks[end] == masks[x]:
                    end += 1
                character = chr(63 + masks[x])
                part += "!%d%s" % (end - x, character) if end - x >= 4 else character * (end - x)
                x = end
            parts.append(part)
        bands.append("$".join(parts))
    return framed(picture, cell[1], text + "-".join(bands) + "\x1b\\")


def write(name, text):
    with open(name + ".txt", "w", newline="") as file:
        file.write(text)


for columns, rows in [(80, 24), (8, 4), (5, 9), (1, 1)]:
    for depth in ["truecolor", "256", "none"]:
        write("blocks-%s-%dx%d" % (depth, columns, rows), blocks(columns, rows, depth))
for columns, rows in [(12, 4), (4, 2), (1, 1)]:
    write("kitty-%dx%d" % (columns, rows), kitty(columns, rows, (2, 4)))
    write("sixel-%dx%d" % (columns, rows), sixel(min(columns, 9), rows, (2, 4)))
