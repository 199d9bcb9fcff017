#if JXL
    import AlcedoCore
    import AlcedoJXL
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JXLDamageTests {
        private let decoder = JXLDecoder()

        // An emulated processor takes most of half an hour.
        @Test(.timeLimit(.minutes(60)), arguments: SampleFile.allCases, DecoderConformance.checks)
        func `the decoder passes each conformance check`(
            file: SampleFile, check: DecoderConformance.Check
        ) async throws {
            let data = try file.data()
            try await check { [decoder] _ in (decoder, data) }
        }

        @Test(.timeLimit(.minutes(60)), arguments: DecoderConformance.checks)
        func `a recompressed JPEG passes each conformance check`(check: DecoderConformance.Check) async throws {
            let data = try JPEGRecompression.compress(testFile("JPEG/Fixtures/gray.jpg"), effort: 3)
            try await check { [decoder] _ in (decoder, data) }
        }

        @Test func `random bytes after a signature are an error`() throws {
            var random = SeededGenerator(seed: 3)
            let boxes = try Data(SampleFile.metadata.data().prefix(32))
            for count in 0..<200 {
                let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                #expect(decoder.errorCode(Data([0xFF, 0x0A]) + noise) != nil)
                #expect(decoder.errorCode(boxes + noise) != nil)
            }
        }

        /// Returns a header of a file with a size and opaque extra channels, whose other fields have their defaults.
        /// Source: ISO/IEC 18181-1, sections D.2 and D.3.
        private func header(width: Int, height: Int, extraCount: Int = 0) -> Data {
            // Each side has two bits that select 30 bits, which hold the side minus one. Three bits state the ratio.
            var bits = BitWriter()
            bits.append(0, 1)
            bits.append(3, 2)
            bits.append(height - 1, 30)
            bits.append(0, 3)
            bits.append(3, 2)
            bits.append(width - 1, 30)
            if extraCount > 0 {
                // Integers of 8 bits, and 12 bits for the number of extra channels.
                for (value, count) in [(0, 1), (0, 1), (0, 1), (0, 2), (1, 1), (3, 2)] { bits.append(value, count) }
                bits.append(extraCount - 1, 12)
                for _ in 0..<extraCount { bits.append(1, 1) }
                // XYB, the color space and no extensions.
                for (value, count) in [(1, 1), (1, 1), (0, 2)] { bits.append(value, count) }
            } else {
                bits.append(1, 1)
            }
            // The color transform has its default.
            bits.append(1, 1)
            return Data([0xFF, 0x0A]) + bits.data
        }

        @Test func `a hidden frame over the limit is refused`() {
            // A modular frame that is only referred to, with groups of 1,024 x 1,024 pixels. Source: ISO/IEC 18181-1,
            // section F.2.
            var bits = BitWriter()
            for (value, count) in [(0, 1), (2, 2), (1, 1), (0, 2), (0, 2), (3, 2), (1, 1)] { bits.append(value, count) }
            for side in [100_000, 100_000] {
                bits.append(3, 2)
                bits.append(side - 18_688, 30)
            }
            for (value, count) in [(1, 2), (1, 1), (0, 2), (1, 1), (0, 2)] { bits.append(value, count) }
            let file = header(width: 20, height: 10) + bits.data + Data(count: 20_000)

            #expect(decoder.errorCode(file) == .exceedsLimit)
        }

        @Test func `layers with too many pixels in total are refused`() {
            // A modular frame of the size of the image, which is neither shown nor the last one, and whose section is
            // empty.
            var bits = BitWriter()
            for (value, count) in [
                (0, 1), (0, 2), (1, 1), (0, 2), (0, 2), (1, 2), (0, 2), (0, 1), (0, 2), (0, 1), (0, 2), (0, 1), (0, 2),
                (1, 1), (0, 2), (0, 1),
            ] {
                bits.append(value, count)
            }
            let layer = bits.data + Data(count: 2)
            let limits = DecodingLimits(maximumPixelCount: 200)
            func file(layerCount: Int) -> Data {
                (0..<layerCount).reduce(header(width: 20, height: 10)) { data, _ in data + layer }
            }

            #expect(decoder.errorCode(file(layerCount: 16), limits: limits) == .truncated)
            #expect(decoder.errorCode(file(layerCount: 17), limits: limits) == .exceedsLimit)
        }

        @Test func `the limit of bytes applies to all channels of a layer`() {
            // A modular frame of 3,000 x 1,000 pixels, with groups of 1,024 x 1,024 pixels and empty sections.
            var bits = BitWriter()
            for (value, count) in [(0, 1), (0, 2), (1, 1), (0, 2), (0, 2)] { bits.append(value, count) }
            for _ in 0..<1_000 { bits.append(0, 2) }
            for (value, count) in [(3, 2), (0, 2), (1, 1), (0, 10), (0, 10)] { bits.append(value, count) }
            for (value, count) in [(2, 2), (3_000 - 2_304, 14), (1, 2), (1_000 - 256, 11)] { bits.append(value, count) }
            for _ in 0..<1_001 { bits.append(0, 2) }
            for (value, count) in [(0, 1), (0, 2), (0, 1), (0, 2), (1, 1), (0, 2), (0, 1)] { bits.append(value, count) }
            let layer = bits.data + Data(count: 9)

            let file = header(width: 20, height: 10, extraCount: 1_000) + layer
            #expect(decoder.errorCode(file) == .exceedsLimit)
            #expect(decoder.errorCode(file, limits: DecodingLimits(maximumByteCount: 4 << 30)) == .truncated)
        }

        @Test func `a size over the limit is refused before pixels are read`() throws {
            for (width, height) in [(1 << 30, 1 << 30), (1 << 30, 1), (1, 1 << 30), (20_000, 10_000)] {
                #expect(decoder.errorCode(header(width: width, height: height) + Data(count: 40)) == .exceedsLimit)
            }
            #expect(decoder.errorCode(header(width: 20, height: 10) + Data(count: 40)) != .exceedsLimit)
        }

        @Test func `frames are decoded only if all of them together are within the limit`() throws {
            let data = try animationFile(frameCount: 4)
            let total = try 4 * decoder.inspect(data, limits: DecodingLimits()).size.pixelCount

            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total)) == nil)
            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total - 1)) == .exceedsLimit)
            // The first frame alone is one image.
            let options = DecodingOptions(limits: DecodingLimits(maximumTotalPixelCount: 1), includesAnimation: false)
            #expect(throws: Never.self) { try decoder.decode(data, options: options) }
        }

        @Test func `more frames than the limit are refused`() throws {
            let data = try animationFile(frameCount: 4)

            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumFrameCount: 3)) == .exceedsLimit)
            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumFrameCount: 4)) == nil)
        }

        @Test(arguments: [SampleFile.lossless, .animation, .metadata])
        func `bytes after the file are ignored`(file: SampleFile) throws {
            let data = try file.data()

            for count in [1, 7, 8, 40] {
                #expect(decoder.errorCode(data + Data(repeating: 0x20, count: count)) == nil, "\(count) bytes")
            }
        }

        @Test func `a file that ends within a box after the codestream is whole`() throws {
            let whole = try BoxedFile.data(
                SampleFile.lossless.data(), after: [BoxedFile.exif(ImageOrientation.right.exif)])

            for count in [1, 20] {
                let cut = Data(whole.dropLast(count))
                let image = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))
                #expect(try image.pixels == samplePixels(SampleFile.size))
                #expect(image.damage?.kind == .harmless)
                #expect(image.damage?.error.code == .truncated)
            }
        }

        @Test func `a file without a signature of the format is corrupt`() {
            #expect(decoder.errorCode(Data("no picture at all".utf8)) == .corrupt)
            #expect(decoder.errorCode(Data([0xFF])) == .truncated)
        }

        @Test func `a truncated animation gives its complete frames`() throws {
            let data = try animationFile(frameCount: 4)
            let cut = Data(data.dropLast(1))

            let image = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))

            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.error.code == .truncated)
            let frames = try #require(image.frames)
            #expect(frames.frameCount == 3)
            #expect(try frames.frame(at: 2) == animationFrame(2))
            #expect(try decoder.inspect(data, limits: DecodingLimits()).frameCount == 4)
        }

        @Test(arguments: DamageTolerance.allCases)
        func `the animation ends before a later frame that cannot be decoded`(tolerance: DamageTolerance) throws {
            var data = try animationFile(frameCount: 4)
            // The last frame is at the end of the file, after its header.
            for index in data.count - 40..<data.count { data[index] = 0xFF }

            let image = try decoder.decode(data, options: DecodingOptions(tolerance: tolerance))
            let frames = try #require(image.frames)
            var count = 0
            while count < frames.frameCount, let frame = try? frames.frame(at: count) {
                #expect(try frame == animationFrame(count))
                count += 1
            }

            #expect(count > 0)
            #expect(count < 4)
            #expect(frames.frameCount == count)
            #expect(ImageDamage.worst(image.damage, frames.damage)?.kind == .harmless)
            #expect(try frames.frame(at: 0) == animationFrame(0))
        }

        @Test func `a truncated lossy image is shown with less detail`() throws {
            let pixels = try smoothPixels(PixelSize(width: 600, height: 400))
            let data = try JXLEncoder(effort: 3).encode(DecodedImage(pixels: pixels))

            let image = try decoder.decode(
                Data(data.dropLast(1)), options: DecodingOptions(allowsPartial: true))

            #expect(image.partialError?.code == .truncated)
            #expect(image.size == pixels.size)
            let differences = zip(image.pixels.tightBytes, pixels.tightBytes).map { abs(Int($0) - Int($1)) }
            #expect(differences.reduce(0, +) < 4 * differences.count)
        }
    }
#endif
