#if HEIF
    import AlcedoCore
    import AlcedoHEIF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct HEIFContainerTests {
        private let decoder = CodecRegistry.Entry.heifInProcess.decoder

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        private func file(_ properties: [[UInt8]]) throws -> Data {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"), properties)
            return builder.data
        }

        /// Returns the part of RGBA8 pixels.
        private func part(_ pixels: PixelBuffer, x: Int, y: Int, width: Int, height: Int) throws -> PixelBuffer {
            let size = PixelSize(width: width, height: height)
            return try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: pixels.alphaMode) { memory, stride in
                    for row in 0..<height {
                        for column in 0..<width {
                            for (channel, value) in pixels.rgba(x + column, y + row).enumerated() {
                                memory[row * stride + 4 * column + channel] = value
                            }
                        }
                    }
                })
        }

        @Test(arguments: [nil, 0, 1, 2, 3] as [Int?], [nil, 0, 1] as [Int?])
        func `the image is cropped, then rotated, then mirrored`(quarterTurns: Int?, axis: Int?) throws {
            let whole = try decode(SampleFile.half.data()).pixels
            var properties = [HEIFBuilder.crop(width: 21, height: 10, halfX: -5, halfY: 8)]
            if let quarterTurns { properties.append(HEIFBuilder.rotation(quarterTurns)) }
            if let axis { properties.append(HEIFBuilder.mirror(axis)) }
            let data = try file(properties)

            let image = try decode(data)
            let stored = try decode(data, DecodingOptions(appliesOrientation: false))

            let cropped = try part(whole, x: 19, y: 31, width: 21, height: 10)
            var expected = cropped
            // A quarter turn counterclockwise makes an image upright whose orientation is `left`.
            for _ in 0..<(quarterTurns ?? 0) { expected = try expected.upright(from: .left) }
            if let axis { expected = try expected.upright(from: axis == 0 ? .downMirrored : .upMirrored) }
            #expect(image.pixels == expected)
            #expect(image.orientation == .up)
            #expect(stored.pixels == cropped)
            #expect(try stored.pixels.upright(from: stored.orientation) == expected)
            #expect(try decoder.inspect(data, limits: DecodingLimits()).uprightSize == expected.size)
        }

        @Test(arguments: [1, 2, 3], [0, 1])
        func `properties apply in the order of the file`(quarterTurns: Int, axis: Int) throws {
            let whole = try decode(SampleFile.half.data()).pixels
            let data = try file([
                HEIFBuilder.mirror(axis), HEIFBuilder.rotation(quarterTurns),
                HEIFBuilder.crop(width: 20, height: 30, halfX: -24, halfY: 10),
            ])

            let pixels = try decode(data).pixels

            var expected = try whole.upright(from: axis == 0 ? .downMirrored : .upMirrored)
            for _ in 0..<quarterTurns { expected = try expected.upright(from: .left) }
            #expect(pixels == (try part(expected, x: 10, y: 22, width: 20, height: 30)))
        }

        @Test(arguments: [(200, 10, 0, 0), (20, 10, 89, 0), (20, 10, 0, -109), (0, 10, 0, 0)])
        func `a crop outside the image is ignored`(width: Int, height: Int, halfX: Int, halfY: Int) throws {
            let data = try file([HEIFBuilder.crop(width: width, height: height, halfX: halfX, halfY: halfY)])

            #expect(try decode(data).pixels == decode(SampleFile.half.data()).pixels)
        }

        @Test func `EXIF, XMP and the profile are read, and the orientation in EXIF is not applied`() throws {
            let exif = ImageOrientation.right.exif
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"), [HEIFBuilder.profile([1, 2, 3])])
            builder.add("Exif", [0, 0, 0, 6] + Array("Exif\0\0".utf8) + exif)
            builder.add("mime", Array("<x/>".utf8))
            builder.refer("cdsc", from: 2, to: [1])
            builder.refer("cdsc", from: 3, to: [1])

            let info = try decoder.inspect(builder.data, limits: DecodingLimits())
            let image = try decode(builder.data)

            #expect(info.metadata.exif == Data(exif))
            #expect(info.metadata.xmp == Data("<x/>".utf8))
            #expect(info.orientation == .up)
            #expect(info.metadata.colorProfile == Data([1, 2, 3]))
            #expect(image.colorProfile == Data([1, 2, 3]))
            #expect(try image.pixels == decode(SampleFile.half.data()).pixels)
            let limits = DecodingLimits(maximumMetadataByteCount: 2)
            #expect(try decoder.inspect(builder.data, limits: limits).metadata == ImageMetadata())
        }

        @Test(arguments: [false, true])
        func `an image without a length is the rest of the file or of the item data`(usesItemData: Bool) throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.itemsWithoutLength = [1]
            builder.usesItemData = usesItemData

            let image = try decode(builder.data)

            #expect(try image.pixels == decode(SampleFile.half.data()).pixels)
            #expect(decoder.errorCode(Data(builder.data.dropLast(9))) == .truncated)
        }

        @Test func `metadata without a length is empty`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.add("mime", [])
            builder.add("Exif", [0, 0, 0, 0] + ImageOrientation.right.exif)
            builder.refer("cdsc", from: 2, to: [1])
            builder.refer("cdsc", from: 3, to: [1])
            builder.itemsWithoutLength = [2]

            let metadata = try decoder.inspect(builder.data, limits: DecodingLimits()).metadata

            #expect(metadata.xmp == nil)
            #expect(metadata.exif == Data(ImageOrientation.right.exif))
        }

        @Test func `the first location of an item is used`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.repeatsLocations = true

            #expect(try decode(builder.data).pixels == decode(SampleFile.half.data()).pixels)
        }

        /// Returns a box `moov` with a track of two pictures, the first at an offset in the file.
        private func movie(_ picture: CodedPicture, at offset: Int, hasLargeOffsets: Bool = false) -> [UInt8] {
            func table(_ name: String, _ fields: [UInt8]) -> [UInt8] { HEIFBuilder.box(name, [0, 0, 0, 0] + fields) }
            let number = HEIFBuilder.number
            let offsets = table(
                hasLargeOffsets ? "co64" : "stco", number(1, 4) + number(offset, hasLargeOffsets ? 8 : 4))
            let entry = HEIFBuilder.box("hvc1", [UInt8](repeating: 0, count: 78) + picture.configuration)
            let sizes = table("stsz", number(0, 4) + number(2, 4) + number(picture.payload.count, 4) + number(1, 4))
            let samples = HEIFBuilder.box("stbl", table("stsd", number(1, 4) + entry) + sizes + offsets)
            let media = HEIFBuilder.box("mdia", HEIFBuilder.box("minf", samples))
            return HEIFBuilder.box("moov", HEIFBuilder.box("trak", media))
        }

        @Test(arguments: [false, true])
        func `the first frame of a sequence is shown`(hasLargeOffsets: Bool) throws {
            let picture = try CodedPicture("half.heic")
            let brands = HEIFBuilder.box("ftyp", Array("hevc\0\0\0\0msf1hevc".utf8))
            let data = HEIFBuilder.box("mdat", picture.payload + [0xFF])
            let file = Data(
                brands + data + movie(picture, at: brands.count + 8, hasLargeOffsets: hasLargeOffsets))

            let image = try decode(file)
            let info = try decoder.inspect(file, limits: DecodingLimits())

            #expect(try image.pixels == decode(SampleFile.half.data()).pixels)
            #expect(image.frames == nil)
            #expect(!image.isAnimated)
            #expect(info.frameCount == 1)
            #expect(info.delays.isEmpty)
            #expect(try decode(file, DecodingOptions(includesAnimation: false)).pixels == image.pixels)
            #expect(decoder.errorCode(Data(file.dropLast(20))) == .truncated)
        }

        @Test func `of a file with an image and a sequence, the image is shown`() throws {
            var builder = HEIFBuilder()
            builder.brands = ["heic", "mif1", "msf1", "hevc"]
            builder.add(try CodedPicture("gray.heic"))
            let still = builder.data
            let picture = try CodedPicture("half.heic")
            let frames = HEIFBuilder.box("mdat", picture.payload + [0xFF])
            let file = still + Data(frames + movie(picture, at: still.count + 8))

            let image = try decode(file)

            #expect(try image.pixels == decode(SampleFile.gray.data()).pixels)
            #expect(image.frames == nil)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).frameCount == 1)
        }

        @Test func `a file is recognized by its brands, and nothing else is`() throws {
            let registry = CodecRegistry([.heifInProcess])
            func format(_ brands: [String]) throws -> ImageFormat? {
                var builder = HEIFBuilder()
                builder.add(try CodedPicture("gray.heic"))
                builder.brands = brands
                return registry.entry(for: builder.data)?.format
            }

            for brands in [["heic"], ["mif1", "heic"], ["heix", "mif1"], ["msf1", "hevc"], ["mif1"]] {
                #expect(try format(brands) == .heif, "\(brands)")
            }
            for brands in [["avif", "mif1"], ["mif1", "avif"], ["isom", "mp42"], ["xxxx"]] {
                #expect(try format(brands) == nil, "\(brands)")
            }
            #expect(registry.entry(for: Data("....ftypheic".utf8)) == nil)
            #expect(registry.entry(for: Data([0, 0, 0, 24]) + Data("ftypmif1\0\0\0\0mif1".utf8)) == nil)
            #expect(registry.entry(for: Data()) == nil)
            #expect(ImageFormat.heif.mediaType == "image/heif")
        }

        @Test func `an entry uses the decoder that it is given`() throws {
            struct Refusing: ImageDecoding {
                func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
                    throw ImageDecodingError(.unsupportedVariant, "refused")
                }
            }
            let data = try SampleFile.half.data()

            let error = #expect(throws: ImageDecodingError.self) {
                try CodecRegistry([.heif(decodedBy: Refusing())]).decode(data)
            }

            #expect(error?.code == .unsupportedVariant)
            #expect(try CodecRegistry([.heifInProcess]).decode(data).size == PixelSize(width: 64, height: 64))
        }
    }
#endif
