import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// Complete files are inflated with libdeflate and the same files in pieces with zlib. Both must agree.
@Suite struct PNGInflateTests {
    private enum Pattern: CaseIterable {
        case flat, noise, periods, sparse, steps
    }

    /// Returns an image whose compressed rows exercise a part of the format: long matches, literals, matches with
    /// distances from 1 to 40, long codes, and short codes of literals.
    private func image(_ pattern: Pattern, _ size: PixelSize, _ format: PixelFormat) throws -> DecodedImage {
        var random = SeededGenerator(seed: 36)
        let pixels = PixelBuffer(
            size: size, format: format, alphaMode: format == .gray8 ? .opaque : .straight
        ) { memory, _ in
            var period = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
            for index in memory.indices {
                switch pattern {
                case .flat: memory[index] = 77
                case .noise: memory[index] = UInt8.random(in: 0...255, using: &random)
                case .periods:
                    if index % 3_000 == 0 { period = Array(period.prefix(1 + index / 3_000 % 40)) + period }
                    memory[index] = period[index % (1 + index / 3_000 % 40)]
                case .sparse:
                    memory[index] = Int.random(in: 0..<200, using: &random) == 0 ? UInt8(index % 256) : 0
                case .steps: memory[index] = UInt8.random(in: 0...5, using: &random)
                }
            }
        }
        return DecodedImage(pixels: try #require(pixels))
    }

    /// Expects the same outcome from the whole file and from pieces. The whole file may also yield `image`, because
    /// libdeflate accepts some unused codes that zlib rejects.
    private func expectAgreement(
        _ file: Data, _ options: DecodingOptions, _ comment: String, or image: PixelBuffer? = nil
    ) throws -> DecodingOutcome {
        let whole = try DecodingOutcome { try PNGDecoder().decode(file, options: options) }
        let pieces = try DecodingOutcome(ofPieces: file, options)
        #expect(whole == pieces || whole == image.map { .pixels($0) }, "\(comment)")
        return whole
    }

    @Test(arguments: [0, 1, 2, 4, 6, 9])
    func `every compression level matches zlib`(level: Int) throws {
        let encoder = PNGEncoder(compressionLevel: level, usesPaletteWhenLossless: false)
        // More than one batch of rows, a single batch, and less than one window.
        let sizes = [
            PixelSize(width: 301, height: 400), PixelSize(width: 111, height: 70), PixelSize(width: 9, height: 5),
        ]
        for pattern in Pattern.allCases {
            for format in [PixelFormat.rgba8, .gray8] {
                for size in sizes {
                    let image = try image(pattern, size, format)
                    var options = DecodingOptions()
                    if format == .gray8 { options.pixelFormat = .gray8 }
                    let seen = try expectAgreement(encoder.encode(image), options, "\(pattern), \(format), \(size)")
                    #expect(seen == .pixels(image.pixels), "\(pattern), \(format), \(size)")
                }
            }
        }
    }

    /// Browsers use the largest window for every file.
    @Test(arguments: [PixelFormat.rgba8, .rgba16])
    func `a stream may exceed the window that it declares`(format: PixelFormat) throws {
        var random = SeededGenerator(seed: 55)
        let size = PixelSize(width: 100, height: 120)
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .straight) { memory, bytesPerRow in
            // Rows are repeated after ten others.
            for index in memory.indices {
                let above = index - 10 * bytesPerRow
                memory[index] = above >= 0 ? memory[above] : UInt8.random(in: 0...255, using: &random)
            }
        }
        let image = DecodedImage(pixels: try #require(pixels))
        let file = try Array(PNGEncoder(compressionLevel: 9, usesPaletteWhenLossless: false).encode(image))
        let name = try #require(Data(file).range(of: Data("IDAT".utf8)))
        var stream = Array(file[name.upperBound..<file.count - PNGWriter.end.count - 4])
        #expect(stream.count < image.pixels.size.height * 100 * format.bytesPerPixel / 2)
        // A window of 256 bytes.
        (stream[0], stream[1]) = (0x08, 0x1D)
        var unverified = stream
        unverified[stream.count - 1] ^= 1
        var options = DecodingOptions()
        options.pixelFormat = format

        // A whole stream, and one that zlib reads because of its checksum.
        for stream in [stream, unverified] {
            let changed = Data(file[..<(name.lowerBound - 4)] + PNGWriter.chunk("IDAT", stream) + PNGWriter.end)
            #expect(try expectAgreement(changed, options, "\(format)") == .pixels(image.pixels))
        }
    }

    @Test func `damaged compressed bytes match zlib`() throws {
        var random = SeededGenerator(seed: 9)
        let end = PNGWriter.end.count
        for pattern in Pattern.allCases {
            let size = PixelSize(width: 60, height: 30)
            let image = try image(pattern, size, .rgba8)
            let file = try Array(PNGEncoder(compressionLevel: 9, usesPaletteWhenLossless: false).encode(image))
            let name = try #require(Data(file).range(of: Data("IDAT".utf8)))
            // The compressed image fits in one chunk.
            let stream = Array(file[name.upperBound..<file.count - end - 4])
            for number in 0..<150 {
                var damaged = stream
                if number % 3 == 0 {
                    damaged = Array(damaged.prefix(Int.random(in: 0...damaged.count, using: &random)))
                } else {
                    let index = Int.random(in: 0..<min(damaged.count, number % 2 == 0 ? 60 : .max), using: &random)
                    damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
                let whole = Data(
                    file[..<(name.lowerBound - 4)] + PNGWriter.chunk("IDAT", damaged) + PNGWriter.end)
                for allowsPartial in [false, true] {
                    _ = try expectAgreement(
                        whole, DecodingOptions(allowsPartial: allowsPartial), "\(pattern), \(number), \(allowsPartial)",
                        or: image.pixels)
                }
            }
        }
    }
}
