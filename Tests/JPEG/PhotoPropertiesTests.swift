import AlcedoCore
import AlcedoJPEG
import Foundation
import TestSupport
import Testing

/// The properties of photos whose metadata ExifTool has written. The script `Fixtures/make.py` has the values.
@Suite struct PhotoPropertiesTests {
    private func metadata(_ name: String) throws -> ImageMetadata {
        try JPEGDecoder().inspect(fixture(name), limits: DecodingLimits()).metadata
    }

    private func date(_ date: PhotoDate?) -> String? { date?.description }

    @Test func `EXIF takes precedence over XMP and IPTC`() throws {
        let metadata = try metadata("photo.jpg")

        let photo = PhotoProperties(metadata)

        #expect(photo.make == "Alcedo Cameras")
        #expect(photo.model == "A-1")
        #expect(photo.lensMake == "Alcedo Optics")
        #expect(photo.lensModel == "50mm F1.8")
        #expect(photo.exposureTime == 1.0 / 250)
        #expect(photo.fNumber == 2.8)
        #expect(photo.isoSpeed == 400)
        #expect(photo.focalLength == 50)
        #expect(photo.focalLengthIn35mmFilm == 75)
        #expect(abs(try #require(photo.exposureBias) + 0.6667) < 1e-9)
        // The flash fired (1) in automatic mode (24).
        #expect(photo.flashFired == true)
        #expect(date(photo.dateTimeOriginal) == "2024-05-17T18:04:05.25+02:00")
        #expect(photo.dateTimeOriginal?.date == Date(timeIntervalSince1970: 1_715_961_845.25))
        #expect(date(photo.dateTimeDigitized) == "2024-05-17T18:04:06")
        #expect(photo.dateTimeDigitized?.date == nil)
        #expect(date(photo.dateTimeModified) == "2024-06-01T09:00:00-03:30")
        #expect(photo.orientation == .right)
        #expect(photo.artists == ["Ada Exif", "Bob; Partners"])
        #expect(photo.copyright == "© Exif")
        #expect(photo.title == "Title in XMP")
        #expect(photo.description == "In EXIF")
        #expect(photo.hasGPS)
        let place = try #require(GPSCoordinates(metadata))
        #expect(abs(place.latitude - 47.1869444) < 1e-7)
        #expect(abs(place.longitude + 8.5125) < 1e-7)
        #expect(place.altitude == -431.5)
        // The raw blocks are beside them.
        #expect(metadata.exif != nil && metadata.xmp != nil && metadata.iptc != nil)
        #expect(metadata.iptcDigest?.count == 16)
    }

    @Test func `XMP takes precedence over IPTC of the same age`() throws {
        var metadata = try metadata("photo-xmp.jpg")
        for hasDigest in [true, false] {
            if !hasDigest { metadata.iptcDigest = nil }

            let photo = PhotoProperties(metadata)

            #expect(photo.make == "Xmp Cameras")
            #expect(photo.model == "X-2")
            #expect(photo.lensMake == "Xmp Optics")
            #expect(photo.lensModel == "24-70mm")
            #expect(photo.exposureTime == 1.0 / 60)
            #expect(photo.fNumber == 5.6)
            #expect(photo.isoSpeed == 200)
            #expect(photo.focalLength == 35)
            #expect(photo.focalLengthIn35mmFilm == 52)
            #expect(abs(try #require(photo.exposureBias) - 1.0 / 3) < 1e-9)
            #expect(photo.flashFired == true)
            #expect(date(photo.dateTimeOriginal) == "2023-04-05T06:07:08.5+09:00")
            #expect(date(photo.dateTimeDigitized) == "2023-04-06T07:08")
            #expect(date(photo.dateTimeModified) == "2023-04-07")
            #expect(photo.orientation == .down)
            #expect(photo.artists == ["Ada Xmp", "Bob Xmp"])
            #expect(photo.copyright == "© Xmp")
            #expect(photo.title == "Title in XMP")
            #expect(photo.description == "In <XMP> & more")
            #expect(photo.hasGPS)
        }
        let place = try #require(GPSCoordinates(metadata))
        #expect(abs(place.latitude + 33.8568) < 1e-7)
        #expect(abs(place.longitude - 151.2153) < 1e-7)
        #expect(place.altitude == 4.5)
    }

    @Test func `IPTC that was changed after XMP takes precedence over it`() throws {
        let photo = PhotoProperties(try metadata("photo-iptc.jpg"))

        #expect(date(photo.dateTimeOriginal) == "2022-03-04T05:06:07-08:00")
        #expect(date(photo.dateTimeDigitized) == "2022-03-05")
        #expect(photo.artists == ["Ada Iptc", "Bób Iptc"])
        #expect(photo.copyright == "© Iptc")
        #expect(photo.title == "Title in IPTC")
        #expect(photo.description == "In IPTC")
        // IPTC has none of these.
        #expect(date(photo.dateTimeModified) == "2023-04-07")
        #expect(photo.make == "Xmp Cameras")
    }

    @Test(arguments: ["photo.jpg", "photo-xmp.jpg", "photo-iptc.jpg"])
    func `a written file with all metadata has the same properties`(name: String) throws {
        let metadata = try metadata(name)
        let image = DecodedImage(pixels: try JPEGDecoder().decode(fixture(name), options: DecodingOptions()).pixels)

        let written = try ImageEncoder.jpeg().embedding(metadata.selected(.all)).encode(image)

        var expected = PhotoProperties(metadata)
        // The written rows are upright.
        expected.orientation = metadata.exif == nil ? nil : .up
        #expect(PhotoProperties(try JPEGDecoder().inspect(written, limits: DecodingLimits()).metadata) == expected)
    }

    @Test func `metadata without a location has no GPS and the other properties`() throws {
        for name in ["photo.jpg", "photo-xmp.jpg", "photo-iptc.jpg"] {
            let metadata = try metadata(name)
            let (all, kept) = (PhotoProperties(metadata), PhotoProperties(metadata.selected(.withoutLocation)))

            #expect(!kept.hasGPS)
            #expect(GPSCoordinates(metadata.selected(.withoutLocation)) == nil)
            #expect(kept.make == all.make)
            #expect(kept.exposureTime == all.exposureTime)
            #expect(kept.artists == all.artists)
            #expect(kept.title == all.title)
            // The time zone tells about the location.
            #expect(kept.dateTimeOriginal?.hour == all.dateTimeOriginal?.hour || name == "photo-iptc.jpg")
            #expect(kept.dateTimeOriginal?.secondsFromGMT == nil)
        }
    }
}
