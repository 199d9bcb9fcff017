#if TIFF
    import AlcedoCore
    import AlcedoTIFF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct TIFFEncoderTests {
        private let decoder = TIFFDecoder()
        private let size = PixelSize(width: 133, height: 91)

        /// Returns pixels of a format, with different channels.
        private func pixels(_ format: PixelFormat, _ alphaMode: AlphaMode = .opaque) throws -> PixelBuffer {
            try madePixels(size, format, alphaMode: alphaMode) { x, y in
                let alpha = alphaMode == .opaque ? -1 : 977 * x
                return format.isGray ? [401 * x + 7 * y] : [401 * x, 5 * y, 301 * x + y, alpha]
            }
        }

        private func decode(_ data: Data, _ format: PixelFormat) throws -> DecodedImage {
            try decoder.decode(data, options: DecodingOptions(pixelFormat: format))
        }

        @Test(arguments: TIFFCompression.allCases, PixelFormat.allCases)
        func `every sample is kept`(compression: TIFFCompression, format: PixelFormat) throws {
            for alphaMode in format.hasAlpha ? [AlphaMode.opaque, .straight] : [.opaque] {
                let pixels = try pixels(format, alphaMode)
                let data = try TIFFEncoder(compression: compression).encode(DecodedImage(pixels: pixels))
                let image = try decode(data, format)

                #expect(image.pixels.tightBytes == pixels.tightBytes)
                #expect(image.pixels.alphaMode == alphaMode)
                #expect(image.damage == nil)
                let info = try decoder.inspect(data)
                #expect(info.bitDepth == (format.isDeep ? 16 : 8))
                #expect(info.hasAlpha == (alphaMode == .straight))
                #expect(info.colorModel == (format.isGray ? .gray : alphaMode == .straight ? .rgba : .rgb))
            }
        }

        @Test func `compression makes files smaller`() throws {
            let image = DecodedImage(pixels: try pixels(.rgba8))
            let counts = try [TIFFCompression.none, .lzw, .deflate].map {
                try TIFFEncoder(compression: $0).encode(image).count
            }

            #expect(counts[0] > size.pixelCount * 3)
            #expect(counts[1] < counts[0] / 2)
            #expect(counts[2] < counts[1])
        }

        @Test func `gray with alpha has two samples`() throws {
            let pixels = try madePixels(size, .rgba8, alphaMode: .straight) { x, y in
                [x, x, x, x + y]
            }
            let data = try TIFFEncoder().encode(DecodedImage(pixels: pixels))

            #expect(try decoder.inspect(data).colorModel == .grayAlpha)
            #expect(try decode(data, .rgba8).pixels == pixels)
        }

        @Test(arguments: [PixelFormat.rgba8, .rgba16]) func `premultiplied color is divided`(format: PixelFormat) throws
        {
            let straight = try pixels(format, .straight)
            let data = try TIFFEncoder().encode(DecodedImage(pixels: straight.converted(to: .premultiplied)))

            let expected = straight.converted(to: .premultiplied).converted(to: .straight)
            #expect(try decode(data, format).pixels == expected)
        }

        @Test func `rows give the file of the image`() throws {
            for format in [PixelFormat.rgba8, .gray16] {
                let image = DecodedImage(pixels: try pixels(format))
                var rows = Data()
                try image.sendRows(
                    to: TIFFEncoder().makeRowEncoder { piece in piece.withUnsafeBytes { rows.append(contentsOf: $0) } })

                #expect(rows == (try TIFFEncoder().encode(image)))
            }
        }

        @Test func `missing rows are an error`() throws {
            let encoder = TIFFEncoder().makeRowEncoder { _ in Issue.record("an incomplete file was passed on") }
            let image = DecodedImage(pixels: try pixels(.rgba8))
            try encoder.begin(image.rowHeader)
            try encoder.consume(image.pixels.row(0))

            #expect(throws: ImageEncodingError.self) { try encoder.finish() }
        }

        @Test func `the orientation, the profile and the metadata are written`() throws {
            let profile = ProfileMaker(
                tags: ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"].map { ($0, [1, 2, 3, 4]) }
            ).data
            let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
            let metadata = ImageMetadata(xmp: xmp, resolution: ImageResolution(horizontal: 300, vertical: 72))
            for value in 1...8 {
                let orientation = try #require(ImageOrientation(rawValue: value))
                let image = DecodedImage(
                    pixels: try pixels(.rgba8), colorProfile: profile, orientation: orientation)
                let info = try decoder.inspect(ImageEncoder.tiff(compression: .lzw).embedding(metadata).encode(image))

                #expect(info.orientation == orientation)
                #expect(info.metadata.colorProfile == profile)
                #expect(info.metadata.xmp == xmp)
                #expect(info.metadata.resolution == metadata.resolution)
            }
            let gray = DecodedImage(pixels: try pixels(.gray8), colorProfile: profile)
            #expect(try decoder.inspect(TIFFEncoder().encode(gray)).metadata.colorProfile == nil)
        }

        @Test func `a file over the limit of bytes is an error`() throws {
            let image = DecodedImage(pixels: try pixels(.rgba8))
            let count = try TIFFEncoder(compression: .none).encode(image).count
            func code(_ limit: Int) -> ImageEncodingError.Code? {
                do throws(ImageEncodingError) {
                    _ = try TIFFEncoder(compression: .none).encode(image, maximumByteCount: limit)
                    return nil
                } catch {
                    return error.code
                }
            }

            #expect(code(count) == nil)
            #expect(code(count - 1) == .exceedsLimit)
            #expect(code(0) == .exceedsLimit)
        }

        @Test func `the registry's encoder is lossless`() throws {
            let codec = try #require(CodecRegistry([.tiff]).encoder(for: .tiff, quality: 0.3))
            let pixels = try pixels(.rgba8)

            #expect(
                try decode(codec.encode(DecodedImage(pixels: pixels)), .rgba8).pixels.tightBytes == pixels.tightBytes)
        }
    }
#endif
