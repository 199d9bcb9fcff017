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


def photo(name, *arguments):
    """Writes 420.jpg with metadata."""
    if os.path.exists(name):
        os.remove(name)
    run("exiftool", "-q", "-charset", "iptc=UTF8", *arguments, "-o", name, "420.jpg")


# Metadata of which every property has another value in EXIF, XMP and IPTC.
in_exif = [
    "-IFD0:Make=Alcedo Cameras", "-IFD0:Model=A-1", "-ExifIFD:LensMake=Alcedo Optics", "-ExifIFD:LensModel=50mm F1.8",
    "-ExifIFD:ExposureTime=1/250", "-ExifIFD:FNumber=2.8", "-ExifIFD:ISO=400", "-ExifIFD:FocalLength=50",
    "-ExifIFD:FocalLengthIn35mmFormat=75", "-ExifIFD:ExposureCompensation=-0.6667", "-ExifIFD:Flash#=25",
    "-ExifIFD:DateTimeOriginal=2024:05:17 18:04:05", "-ExifIFD:SubSecTimeOriginal=25",
    "-ExifIFD:OffsetTimeOriginal=+02:00", "-ExifIFD:CreateDate=2024:05:17 18:04:06",
    "-IFD0:ModifyDate=2024:06:01 09:00:00", "-ExifIFD:OffsetTime=-03:30", "-IFD0:Orientation#=6",
    "-IFD0:Artist=Ada Exif; \"Bob; Partners\"", "-IFD0:Copyright=© Exif", "-IFD0:ImageDescription=In EXIF",
    "-GPS:GPSLatitude=47.1869444", "-GPS:GPSLatitudeRef=N", "-GPS:GPSLongitude=8.5125", "-GPS:GPSLongitudeRef=W",
    "-GPS:GPSAltitude=431.5", "-GPS:GPSAltitudeRef#=1",
]
in_xmp = [
    "-XMP-tiff:Make=Xmp Cameras", "-XMP-tiff:Model=X-2", "-XMP-exifEX:LensMake=Xmp Optics",
    "-XMP-aux:Lens=24-70mm", "-XMP-exif:ExposureTime=1/60", "-XMP-exif:FNumber=5.6", "-XMP-exif:ISO=200",
    "-XMP-exif:FocalLength=35", "-XMP-exif:FocalLengthIn35mmFormat=52", "-XMP-exif:ExposureCompensation=1/3",
    "-XMP-exif:FlashFired=True", "-XMP-photoshop:DateCreated=2023:04:05 06:07:08.5+09:00",
    "-XMP-xmp:CreateDate=2023:04:06 07:08", "-XMP-xmp:ModifyDate=2023:04:07", "-XMP-tiff:Orientation#=3",
    "-XMP-dc:Creator=Ada Xmp", "-XMP-dc:Creator=Bob Xmp", "-XMP-dc:Rights-de=Rechte", "-XMP-dc:Rights=© Xmp",
    "-XMP-dc:Title=Title in XMP", "-XMP-dc:Description=In <XMP> & more", "-XMP-exif:GPSLatitude=-33.8568",
    "-XMP-exif:GPSLongitude=151.2153", "-XMP-exif:GPSAltitude=4.5",
]
in_iptc = [
    "-IPTC:CodedCharacterSet=UTF8", "-IPTC:By-line=Ada Iptc", "-IPTC:By-line=Bób Iptc", "-IPTC:CopyrightNotice=© Iptc",
    "-IPTC:ObjectName=Title in IPTC", "-IPTC:Caption-Abstract=In IPTC", "-IPTC:DateCreated=2022:03:04",
    "-IPTC:TimeCreated=05:06:07-08:00", "-IPTC:DigitalCreationDate=2022:03:05",
]
photo("photo.jpg", *in_exif, *in_xmp, *in_iptc, "-Photoshop:IPTCDigest=new")
photo("photo-xmp.jpg", *in_xmp, *in_iptc, "-Photoshop:IPTCDigest=new")
photo("photo-iptc.jpg", *in_xmp, *in_iptc, "-Photoshop:IPTCDigest=00000000000000000000000000000000")
