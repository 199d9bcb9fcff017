#if JXL
    import AlcedoCore
    import AlcedoJXL
    import Foundation
    import TestSupport
    import Testing

    /// Tests of samples that the encoder does not write. The files are made from those of the encoder by replacing the
    /// header of the codestream.
    @Suite struct JXLStoredSamplesTests {
        private let decoder = JXLDecoder()

        /// The bits of numbers, each with the count of its bits.
        private typealias Fields = [(value: Int, count: Int)]

        /// Returns the header of a lossless sRGB image of the size of ``SampleFile``. The fields are those of its
        /// samples and extra channels. Source: ISO/IEC 18181-1, sections D.2 and D.3.
        private func header(_ fields: Fields) -> Data {
            let size = SampleFile.size
            let start: Fields = [
                (0, 1), (0, 2), (size.height - 1, 9), (0, 3), (0, 2), (size.width - 1, 9), (0, 1), (0, 1),
            ]
            // No XYB, the default color space, no extensions and the default transform.
            let end: Fields = [(0, 1), (1, 1), (0, 2), (1, 1)]
            var bits = BitWriter()
            for field in start + fields + end { bits.append(field.value, field.count) }
            return Data([0xFF, 0x0A]) + bits.data
        }

        /// Returns the codestream of lossless pixels with other fields in its header.
        private func codestream(_ pixels: PixelBuffer, from stored: Fields, to changed: Fields) throws -> Data {
            let encoder = JXLEncoder(compression: .lossless, effort: 3)
            let data = BoxedFile.codestream(of: try encoder.encode(DecodedImage(pixels: pixels)))
            let header = header(stored)
            try #require(data.starts(with: header))
            return self.header(changed) + data.dropFirst(header.count)
        }

        @Test func `floating-point samples are clamped and become 16-bit samples on request`() throws {
            // Samples of 16 bits with their values: -1, 0, 1/4, 1/2, 1 and 2.
            let samples: [(bits: Int, value: Int)] = [
                (0xBC00, 0), (0, 0), (0x3400, 16_384), (0x3800, 32_768), (0x3C00, 65_535), (0x4000, 65_535),
            ]
            let stored = try madePixels(SampleFile.size, .rgba16, alphaMode: .opaque) { x, y in
                (0..<3).map { samples[(x + y + $0) % samples.count].bits } + [65_535]
            }
            let file = try codestream(
                stored, from: [(0, 1), (3, 2), (15, 6), (0, 1), (0, 2)], to: [(1, 1), (1, 2), (4, 4), (0, 1), (0, 2)])

            let pixels = try decoder.decode(file, options: DecodingOptions(pixelFormat: .rgba16)).pixels

            #expect(pixels.format == .rgba16)
            #expect(pixels.alphaMode == .opaque)
            #expect(pixels.size == SampleFile.size)
            let bytes = pixels.tightBytes
            for y in 0..<SampleFile.size.height {
                for x in 0..<SampleFile.size.width {
                    for channel in 0..<3 {
                        let offset = 2 * (4 * (y * SampleFile.size.width + x) + channel)
                        let sample = bytes[offset..<offset + 2].withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) }
                        let value = samples[(x + y + channel) % samples.count].value
                        #expect(abs(Int(sample) - value) <= 1, "channel \(channel) of (\(x), \(y))")
                    }
                }
            }
        }

        @Test func `stored premultiplied color is decoded to straight color`() throws {
            let stored = try madePixels(SampleFile.size, .rgba8, alphaMode: .straight) { x, y in
                let alpha = 105 + 10 * y
                return [alpha * x / 20, alpha * y / 14, alpha / 2, alpha]
            }
            let file = try codestream(
                stored, from: [(0, 1), (0, 2), (1, 1), (1, 2), (1, 1)],
                to: [
                    (0, 1), (0, 2), (1, 1), (1, 2),
                    // The channel is alpha, has 8 bits, the size of the image and no name, and is premultiplied.
                    (0, 1), (0, 2), (0, 1), (0, 2), (0, 2), (0, 2), (1, 1),
                ])

            let pixels = try decoder.decode(file, options: DecodingOptions()).pixels

            #expect(pixels.alphaMode == .straight)
            for y in 0..<SampleFile.size.height {
                for x in 0..<SampleFile.size.width {
                    let before = stored.rgba(x, y).map { Int($0) }
                    let after = pixels.rgba(x, y).map { Int($0) }
                    #expect(before[3] == after[3])
                    for channel in 0..<3 {
                        let straight = (before[channel] * 255 + before[3] / 2) / before[3]
                        #expect(abs(after[channel] - straight) <= 1)
                    }
                }
            }
        }
    }
#endif
