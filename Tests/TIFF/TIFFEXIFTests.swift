#if TIFF
    import AlcedoCore
    import AlcedoTIFF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    /// EXIF and IPTC in files of the encoder.
    @Suite struct TIFFEXIFTests {
        private typealias Tags = [Int: TIFFMaker.Values]

        private let decoder = TIFFDecoder()
        private let iptc = Data([0x1C, 2, 80, 0, 3, 65, 66, 67])
        private let image: Tags = [
            270: .text("A lake"), 271: .text("Maker"), 272: .text("Model 1"), 274: .short(1), 305: .text("Editor 2"),
            306: .text("2026:11:30 12:00:00"), 315: .text("Ada"), 33_432: .text("Mine"),
        ]
        private let photo: Tags = [
            0x829A: .rational(1, 60), 0x829D: .rational(28, 10), 0x8827: .short(400),
            0x9003: .text("2026:11:30 11:59:58"), 0x920A: .rational(35, 1), 0x927C: .bytes([1, 2, 3, 4, 5]),
            0xA434: .text("Lens 35"),
        ]
        private let gps: Tags = [
            1: .text("N"), 2: TIFFMaker.Values(type: 5, numbers: [47, 1, 11, 1, 13, 1]),
            3: .text("E"), 4: TIFFMaker.Values(type: 5, numbers: [8, 1, 30, 1, 30, 1]),
        ]

        /// Returns EXIF data. The directories of EXIF and of GPS follow that of the image.
        private func exif(
            _ image: Tags? = nil, photo: Tags? = nil, isBigEndian: Bool = false
        ) -> (data: Data, photoStart: Int) {
            let maker = TIFFMaker(isBigEndian: isBigEndian)
            func directory(_ tags: Tags, at start: Int) -> [UInt8] {
                var (entries, content) = (maker.number(tags.count, 2), [UInt8]())
                let end = start + 2 + 12 * tags.count + 4
                for (tag, values) in tags.sorted(by: { $0.key < $1.key }) {
                    let bytes = maker.data(of: values)
                    let count = values.type == 5 ? values.numbers.count / 2 : values.numbers.count
                    entries += maker.number(tag, 2) + maker.number(values.type, 2) + maker.number(count, 4)
                    entries +=
                        bytes.count > 4
                        ? maker.number(end + content.count, 4) : bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
                    if bytes.count > 4 { content += bytes + [UInt8](repeating: 0, count: bytes.count % 2) }
                }
                return entries + maker.number(0, 4) + content
            }
            func first(_ photo: Int, _ gps: Int) -> [UInt8] {
                var tags = image ?? self.image
                tags[34_665] = .long(photo)
                tags[34_853] = .long(gps)
                return directory(tags, at: 8)
            }
            let photoStart = 8 + first(0, 0).count
            let photo = directory(photo ?? self.photo, at: photoStart)
            let gpsStart = photoStart + photo.count
            let header: [UInt8] = (isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]) + maker.number(8, 4)
            let data = header + first(photoStart, gpsStart) + photo + directory(gps, at: gpsStart)
            return (Data(data), photoStart)
        }

        private func picture(_ format: PixelFormat = .rgba8) throws -> DecodedImage {
            let size = PixelSize(width: 61, height: 43)
            let pixels = try madePixels(size, format, alphaMode: .opaque) { x, y in
                [401 * x, 5 * y, 301 * x + y, -1]
            }
            return DecodedImage(pixels: pixels)
        }

        private func encoder(_ exif: Data, _ compression: TIFFCompression = .deflate) -> TIFFEncoder {
            TIFFEncoder(compression: compression).embedding(ImageMetadata(exif: exif, iptc: iptc))
        }

        @Test(arguments: [false, true], TIFFCompression.allCases)
        func `photos keep their properties, their location and their samples`(
            isBigEndian: Bool, compression: TIFFCompression
        ) throws {
            let source = exif(isBigEndian: isBigEndian).data
            for format in [PixelFormat.rgba8, .rgba16] {
                let picture = try picture(format)
                let file = try encoder(source, compression).encode(picture)
                let info = try decoder.inspect(file)

                #expect(info.metadataDamage == nil)
                #expect(info.metadata.iptc == iptc)
                let stored = try #require(info.metadata.exif)
                let properties = PhotoProperties(ImageMetadata(exif: source))
                #expect(PhotoProperties(ImageMetadata(exif: stored)) == properties)
                #expect(properties.make == "Maker" && properties.exposureTime == 1 / 60.0 && properties.hasGPS)
                let location = try #require(GPSCoordinates(ImageMetadata(exif: source)))
                #expect(GPSCoordinates(ImageMetadata(exif: stored)) == location)
                #expect(ImageMetadata.hasValues(of: source, in: stored))
                let decoded = try decoder.decode(file, options: DecodingOptions(pixelFormat: format))
                #expect(decoded.pixels.tightBytes == picture.pixels.tightBytes)
                #expect(decoded.damage == nil)
            }
        }

        @Test func `values that differ or are missing are found`() throws {
            let source = exif().data
            let stored = try #require(try decoder.inspect(encoder(source).encode(picture())).metadata.exif)
            var other = photo
            other[0x829A] = .rational(1, 30)
            #expect(!ImageMetadata.hasValues(of: exif(photo: other).data, in: stored))
            other = photo
            other[0x9209] = .short(1)
            #expect(!ImageMetadata.hasValues(of: exif(photo: other).data, in: stored))
            var texts = image
            texts[315] = .text("Bob")
            #expect(!ImageMetadata.hasValues(of: exif(texts).data, in: stored))
            #expect(!ImageMetadata.hasValues(of: exif(isBigEndian: true).data, in: stored))
            // What describes the pixels has other places in TIFF.
            texts = image
            texts[274] = .short(6)
            texts[282] = .rational(72, 1)
            #expect(ImageMetadata.hasValues(of: exif(texts).data, in: stored))
        }

        @Test func `the version of DNG in EXIF does not make a raw photo`() throws {
            var tags = image
            tags[50_706] = TIFFMaker.Values(type: 1, numbers: [1, 4, 0, 0])
            let info = try decoder.inspect(encoder(exif(tags).data).encode(picture()))

            #expect(PhotoProperties(info.metadata).exposureTime == 1 / 60.0)
        }

        @Test func `directories without an end, and those that share their bytes, are left out`() throws {
            let circle = exif(photo: [0x829A: .rational(1, 60), 34_665: .long(exif().photoStart)]).data
            // Each of many entries has the bytes of the whole data.
            var shared = exif(photo: Dictionary(uniqueKeysWithValues: (0..<200).map { (0x9400 + $0, .long(0)) })).data
            let first = exif().photoStart + 2
            for index in 0..<200 {
                let field = TIFFMaker().number(7, 2) + TIFFMaker().number(2_000, 4) + TIFFMaker().number(8, 4)
                let place = first + 12 * index + 2
                shared.replaceSubrange(place..<place + 10, with: field)
            }
            let picture = try picture()
            for source in [circle, shared] {
                let file = try encoder(source).encode(picture)
                let metadata = try decoder.inspect(file).metadata

                let properties = PhotoProperties(metadata)
                #expect(properties.make == "Maker")
                #expect(properties.exposureTime == nil && !properties.hasGPS)
                #expect(metadata.iptc == iptc)
                #expect(file.count < (try encoder(Data()).encode(picture).count) + 1_000)
                #expect(try decoder.decode(file).pixels == picture.pixels)
            }
        }

        @Test func `damaged entries are left out, and others stay`() throws {
            let source = exif()
            for (place, bytes) in [
                (source.photoStart + 2 + 4, [255, 255, 255, 255]), (source.photoStart + 2 + 8, [0, 0, 0, 127]),
                (source.photoStart + 2 + 2, [99, 0]),
            ] as [(Int, [UInt8])] {
                var damaged = source.data
                damaged.replaceSubrange(place..<place + bytes.count, with: bytes)
                let info = try decoder.inspect(encoder(damaged).encode(picture()))

                let properties = PhotoProperties(info.metadata)
                #expect(properties.exposureTime == nil)
                #expect(properties.fNumber == 2.8)
                #expect(info.metadataDamage == nil)
            }
            for source in [Data("II*\0".utf8), Data("no TIFF".utf8), source.data.prefix(60), Data(count: 30)] {
                #expect(try decoder.decode(encoder(source).encode(picture())).pixels == picture().pixels)
            }
        }

        @Test func `the limit of bytes includes EXIF and IPTC`() throws {
            let (source, picture) = (exif().data, try picture())
            let encoder = encoder(source)
            let count = try encoder.encode(picture).count
            #expect(count > (try TIFFEncoder().encode(picture).count) + source.count / 2)
            #expect(try encoder.encode(picture, maximumByteCount: count).count == count)
            for limit in [count - 1, 100, 8, 0] {
                let error = #expect(throws: ImageEncodingError.self) {
                    try encoder.encode(picture, maximumByteCount: limit)
                }
                #expect(error?.code == .exceedsLimit)
            }
        }
    }
#endif
