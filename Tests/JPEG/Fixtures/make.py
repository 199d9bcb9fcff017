"""Makes the JPEG fixtures, and their pixels as the reference decoder finds them."""
import os
import subprocess

from PIL import Image, ImageCms


def run(*command, input=None):
    return subprocess.run(command, input=input, stdout=subprocess.PIPE, check=True).stdout


def write(name, content):
    with open(name, "wb") as file:
        file.write(content)


def picture(width, height):
    """Red grows to the right, green downwards, blue is a fine grid; the lower right corner is white."""
    def pixel(x, y):
        if x > width - 7 and y > height - 5:
            return (255, 255, 255)
        return (x * 255 // width, y * 255 // height, 64 + 32 * (x // 3 + y // 3 & 3))
    rows = bytes(v for y in range(height) for x in range(width) for v in pixel(x, y))
    return b"P6 %d %d 255\n" % (width, height) + rows


def pixels(name, *options):
    """The reference: the samples alone, without the header of three words and its line ends."""
    return run("djpeg", "-dct", "int", "-pnm", *options, name).split(b"\n", 3)[3]


small, large = picture(33, 25), picture(150, 110)
for name, options in {
    "444": ["-sample", "1x1"], "422": ["-sample", "2x1"], "420": [], "gray": ["-grayscale"], "rgb": ["-rgb"],
    "restart-rows": ["-restart", "1"],
}.items():
    write(f"{name}.jpg", run("cjpeg", "-quality", "85", *options, input=small))
    write(f"{name}.raw", pixels(f"{name}.jpg"))

# The same coefficients in other orders: the same pixels as 420.raw.
write("progressive.jpg", run("jpegtran", "-progressive", "-optimize", "420.jpg"))
write("restart.jpg", run("jpegtran", "-restart", "1B", "420.jpg"))
write("arithmetic.jpg", run("jpegtran", "-arithmetic", "420.jpg"))

write("large.jpg", run("cjpeg", "-quality", "40", "-optimize", input=large))
write("large-eighth.raw", pixels("large.jpg", "-scale", "1/8"))
write("large-quarter.raw", pixels("large.jpg", "-scale", "1/4"))

write("profile.icc", ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
write("profile.jpg", run("cjpeg", "-icc", "profile.icc", input=small))

# Ink: by ImageMagick, as luminance, chroma and black (YCCK), from the picture; by Pillow, as it is, from a formula that
# the tests repeat. Both write the marker that means inverted samples.
write("small.ppm", small)
run("convert", "small.ppm", "-colorspace", "CMYK", "-quality", "98", "-strip", "ycck.jpg")
write("small.raw", small.split(b"\n", 1)[1])
inks = bytes(v for y in range(25) for x in range(33) for v in (7 * x, 9 * y, 60, 3 * (x + y)))
Image.frombytes("CMYK", (33, 25), inks).save("cmyk.jpg", quality=95)

for orientation in (3, 6):
    name = f"exif{orientation}.jpg"
    if os.path.exists(name):
        os.remove(name)
    run("exiftool", "-q", f"-IFD0:Orientation#={orientation}", "-o", name, "420.jpg")
os.remove("small.ppm")
