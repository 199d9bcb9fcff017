#if JXL
    import AlcedoCore
    import AlcedoJPEG
    import AlcedoJXL
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JPEGRecompressionTests {
        private let decoder = JXLDecoder()

        @Test(arguments: ["420", "422", "444", "gray", "rgb", "progressive", "restart", "profile", "exif6", "large"])
        func `a JPEG file is reconstructed byte for byte`(name: String) throws {
            let jpeg = try testFile("JPEG/Fixtures/\(name).jpg")

            let data = try JPEGRecompression.compress(jpeg, effort: 3)

            #expect(try JPEGRecompression.reconstruct(data) == jpeg)
            let info = try decoder.inspect(data, limits: DecodingLimits())
            #expect(info.size == (try CodecRegistry([.jpeg]).inspect(jpeg).size))
        }

        @Test func `a recompressed photo is smaller and looks the same`() throws {
            let pixels = try madePixels(PixelSize(width: 200, height: 160), .rgba8, alphaMode: .opaque) { x, y in
                [x + (x * y) % 23, 60 + y, 200 - (x + y) / 2, 255]
            }
            for isProgressive in [false, true] {
                let encoder = ImageEncoder.jpeg(quality: 90, isProgressive: isProgressive)
                let jpeg = try encoder.encode(DecodedImage(pixels: pixels))

                let data = try JPEGRecompression.compress(jpeg)

                #expect(data.count < jpeg.count)
                #expect(try JPEGRecompression.reconstruct(data) == jpeg)
                let before = try CodecRegistry([.jpeg]).decode(jpeg).pixels
                let after = try decoder.decode(data, options: DecodingOptions()).pixels
                let differences = zip(before.tightBytes, after.tightBytes).map { abs(Int($0) - Int($1)) }
                // libjpeg rounds the samples of each step, and interpolates chroma differently.
                #expect(differences.reduce(0, +) < 2 * differences.count)
            }
        }

        @Test func `the orientation of EXIF becomes that of the image`() throws {
            let jpeg = try testFile("JPEG/Fixtures/exif6.jpg")

            let info = try decoder.inspect(JPEGRecompression.compress(jpeg, effort: 3), limits: DecodingLimits())

            #expect(info.orientation == .right)
            #expect(info.metadata.exif == (try CodecRegistry([.jpeg]).inspect(jpeg).metadata.exif))
        }

        @Test(arguments: ["cmyk", "arithmetic"])
        func `a JPEG that libjxl does not read is an error`(name: String) throws {
            let jpeg = try testFile("JPEG/Fixtures/\(name).jpg")

            let error = #expect(throws: ImageEncodingError.self) { try JPEGRecompression.compress(jpeg) }

            #expect(error?.code == .unsupportedImage)
        }

        @Test(arguments: [0xC8, 0xCC, 0xDC, 0xDF, 0xF0, 0x02] as [UInt8])
        func `a frame header that only libjxl finds is not read`(marker: UInt8) throws {
            var jpeg = try testFile("JPEG/Fixtures/420.jpg")
            // libjxl does not skip the contents of these segments, and finds a frame of 65,535 x 65,535 pixels in them.
            let hidden: [UInt8] = [
                0xFF, 0xC0, 0, 17, 8, 0xFF, 0xFF, 0xFF, 0xFF, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0,
            ]
            jpeg.insert(contentsOf: [0xFF, marker, 0, UInt8(hidden.count + 2)] + hidden, at: 2)

            let error = #expect(throws: ImageEncodingError.self) { try JPEGRecompression.compress(jpeg) }

            #expect(error?.code == .unsupportedImage)
        }

        @Test func `other and damaged data is an error`() throws {
            let jpeg = try testFile("JPEG/Fixtures/420.jpg")
            let inputs = [
                Data(), Data([0xFF, 0xD8, 0xFF]), Data("no picture at all".utf8), Data(jpeg.prefix(100)),
                try SampleFile.lossless.data(),
            ]
            for input in inputs {
                let error = #expect(throws: ImageEncodingError.self) { try JPEGRecompression.compress(input) }
                #expect(error?.code == .failed)
            }
            var random = SeededGenerator(seed: 5)
            for _ in 0..<200 {
                var damaged = jpeg
                damaged[Int.random(in: 0..<jpeg.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                // What is compressed is also reconstructed.
                guard let data = try? JPEGRecompression.compress(damaged, effort: 1) else { continue }
                #expect(try JPEGRecompression.reconstruct(data) == damaged)
            }
        }

        @Test func `limits apply to both directions`() throws {
            let jpeg = try testFile("JPEG/Fixtures/420.jpg")
            let data = try JPEGRecompression.compress(jpeg, effort: 3)
            let limits = DecodingLimits(maximumPixelCount: 33 * 25 - 1)

            let encoding = #expect(throws: ImageEncodingError.self) {
                try JPEGRecompression.compress(jpeg, limits: limits)
            }
            let decoding = #expect(throws: ImageDecodingError.self) {
                try JPEGRecompression.reconstruct(data, limits: limits)
            }

            #expect(encoding?.code == .unsupportedImage)
            #expect(decoding?.code == .exceedsLimit)
        }

        @Test func `a JPEG file much larger than the JPEG XL file is reconstructed within the limit`() throws {
            var jpeg = try testFile("JPEG/Fixtures/420.jpg")
            // A comment of zeros, which the JPEG XL file stores in few bytes.
            jpeg.insert(contentsOf: [0xFF, 0xFE, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_533), at: 2)

            let data = try JPEGRecompression.compress(jpeg, effort: 3)

            #expect(data.count < 10_000)
            for (limit, isReconstructed) in [(jpeg.count, true), (jpeg.count - 1, false)] {
                let limits = DecodingLimits(maximumByteCount: limit)
                #expect((try? JPEGRecompression.reconstruct(data, limits: limits)) == (isReconstructed ? jpeg : nil))
            }
        }

        @Test func `a small file does not give a JPEG file of many megabytes`() throws {
            let jpeg = try testFile("JPEG/Fixtures/420.jpg")
            let segment = Data([0xFF, 0xE5, 0xFF, 0xFF]) + Data(count: 65_533)
            var large = jpeg.prefix(2)
            for _ in 0..<120 { large += segment }
            large += jpeg.dropFirst(2)
            let patient = DecodingLimits(maximumMetadataByteCount: 16 << 20)

            let data = try JPEGRecompression.compress(large, effort: 1, limits: patient)

            #expect(data.count < 100_000)
            #expect(try JPEGRecompression.reconstruct(data, limits: patient) == large)
            let decoding = #expect(throws: ImageDecodingError.self) { try JPEGRecompression.reconstruct(data) }
            let encoding = #expect(throws: ImageEncodingError.self) {
                try JPEGRecompression.compress(large, effort: 1)
            }
            #expect(decoding?.code == .exceedsLimit)
            #expect(encoding?.code == .unsupportedImage)
        }

        @Test func `the memory of a compression grows with the image, the file and the effort`() {
            func count(_ width: Int, _ height: Int, effort: Int = 7, bytes: Int = 1_000) -> Int {
                JPEGRecompression.compressionByteCount(
                    of: PixelSize(width: width, height: height), effort: effort, fileByteCount: bytes)
            }
            let image = count(4_000, 3_000, bytes: 3_000_000)
            #expect(image > 20 * 12_000_000)
            #expect(image < 50 * 12_000_000)
            #expect(count(4_000, 3_000, bytes: 40_000_000) > image)
            #expect(count(4_000, 3_000, effort: 9, bytes: 3_000_000) > image)
            // A row has whole groups of pixels.
            #expect(count(65_500, 1) > 20 * 65_500 * 256)
            #expect(count(.max, .max, bytes: .max) > 1 << 60)
            #expect(count(-1, 0, bytes: -5) > 0)
        }

        @Test func `metadata that expands beyond the limit is an error`() throws {
            let data = try JPEGRecompression.compress(testFile("JPEG/Fixtures/420.jpg"), effort: 3)
            // The signature and the file type have 32 bytes.
            let file = Data(data.prefix(32)) + BoxedFile.expandingXMP + Data(data.dropFirst(32))

            #expect(throws: Never.self) { try JPEGRecompression.reconstruct(file) }
            let error = #expect(throws: ImageDecodingError.self) {
                try JPEGRecompression.reconstruct(file, limits: DecodingLimits(maximumChunkByteCount: 199_999))
            }

            #expect(error?.code == .exceedsLimit)
        }

        @Test func `a file that was not made from a JPEG has no JPEG`() throws {
            for file in [SampleFile.lossless, .lossy, .animation, .metadata] {
                let error = #expect(throws: ImageDecodingError.self) {
                    try JPEGRecompression.reconstruct(file.data())
                }
                #expect(error?.code == .unsupportedVariant)
            }
        }

        @Test func `a truncated or damaged file gives no other JPEG`() throws {
            let jpeg = try testFile("JPEG/Fixtures/420.jpg")
            let data = try JPEGRecompression.compress(jpeg, effort: 3)
            for count in stride(from: 0, to: data.count, by: 7) {
                let error = #expect(throws: ImageDecodingError.self) {
                    try JPEGRecompression.reconstruct(Data(data.prefix(count)))
                }
                #expect(error?.code == (count == 0 ? .empty : .truncated))
            }
            var random = SeededGenerator(seed: 7)
            for _ in 0..<200 {
                var damaged = data
                damaged[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                _ = try? JPEGRecompression.reconstruct(damaged)
            }
        }
    }
#endif
