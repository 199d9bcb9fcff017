import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// Returns a large image of zeros as a file of a few kilobytes.
private func zeros(_ size: PixelSize, _ format: PixelFormat) throws -> Data {
    var file = Data()
    let encoder = PNGEncoder(compressionLevel: 1).makeRowEncoder { bytes in
        bytes.withUnsafeBytes { file.append(contentsOf: $0) }
    }
    try encoder.begin(PixelRowHeader(size: size, format: format, alphaMode: format == .gray8 ? .opaque : .straight))
    let row = [UInt8](repeating: 0, count: size.width * format.bytesPerPixel)
    for _ in 0..<size.height { try row.withUnsafeBytes { try encoder.consume(RawSpan(_unsafeBytes: $0)) } }
    try encoder.finish()
    return file
}

/// Returns the file with a wrong checksum of its last pixel data.
private func breakingLastChecksum(_ file: Data) -> Data {
    var broken = file
    broken[file.count - 12 - 1] ^= 1
    return broken
}

@Suite struct PNGDamageMemoryTests {
    private let decoder = PNGDecoder()

    @Test(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory && !recordsAccesses))
    func `a damaged file uses no more memory than is reserved`() async {
        // In its own process, because other tests use memory too.
        await #expect(processExitsWith: .success) {
            let size = PixelSize(width: 2_900, height: 2_900)
            let file = try zeros(size, .rgba8)
            let broken = breakingLastChecksum(file)
            let cut = file.prefix(file.count / 2)
            let gray = try zeros(size, .gray8)
            let target = TargetSize(width: 60, height: 60)
            let decoder = PNGDecoder()
            /// - Returns: Whether there was an image.
            func check(_ data: Data, _ options: DecodingOptions, rows: Bool = false) throws -> Bool {
                let reserved = try decoder.decodingByteCount(data, options: options)
                var isDecoded = false
                let growth = try memoryGrowth {
                    if rows {
                        _ = try? decoder.decodeRows(data, options: options, into: RowCounter())
                    } else {
                        isDecoded = (try? decoder.decode(data, options: options)) != nil
                    }
                }
                #expect(growth < reserved + 3 << 20, "\(growth) bytes of \(reserved), \(options)")
                return isDecoded
            }

            // The code of the first decode is read from its file, which counts as memory too.
            let tiny = breakingLastChecksum(try zeros(PixelSize(width: 4, height: 4), .rgba8))
            _ = try decoder.decode(tiny, options: DecodingOptions(target: TargetSize(width: 2, height: 2)))

            // Small images first, because freed memory may be reused.
            #expect(try decoder.decodingByteCount(broken, options: DecodingOptions(target: target)) < 1 << 20)
            #expect(try check(broken, DecodingOptions(target: target)))
            #expect(try !check(broken, DecodingOptions(target: target), rows: true))
            #expect(try !check(broken, DecodingOptions(), rows: true))
            #expect(try check(broken, DecodingOptions(target: target, allowsPartial: true)))
            #expect(
                try check(cut, DecodingOptions(alphaMode: .premultiplied, target: target, allowsPartial: true)))
            let gray8 = DecodingOptions(target: target, pixelFormat: .gray8, allowsPartial: true)
            #expect(try check(gray.prefix(gray.count / 2), gray8))
            #expect(try check(broken, DecodingOptions()))
            #expect(try check(cut, DecodingOptions(alphaMode: .premultiplied, allowsPartial: true)))
            #expect(try check(gray.prefix(gray.count / 2), DecodingOptions(pixelFormat: .gray8, allowsPartial: true)))
        }
    }

    @Test(arguments: [PixelFormat.rgba8, .gray8, .rgba16], [AlphaMode.straight, .premultiplied])
    func `a reduced partial image is the full-size one, reduced`(format: PixelFormat, alphaMode: AlphaMode) throws {
        // High enough for many batches of rows.
        let size = PixelSize(width: 20, height: 5_000)
        let image = try #require(
            PixelBuffer(size: size, format: format, alphaMode: format == .gray8 ? .opaque : .straight) { memory, _ in
                var random = SeededGenerator(seed: 7)
                for index in memory.indices { memory[index] = UInt8.random(in: 0...255, using: &random) }
            })
        let file = try PNGEncoder(compressionLevel: 1).encode(DecodedImage(pixels: image))
        let broken = breakingLastChecksum(file)

        for data in [broken, broken.prefix(file.count * 2 / 3), file.prefix(file.count / 3), file.prefix(1_000)] {
            var options = DecodingOptions(alphaMode: alphaMode, pixelFormat: format, allowsPartial: true)
            let full = try decoder.decode(data, options: options)
            options.target = TargetSize(width: 7, height: 7, mode: .fill)
            let small = try decoder.decode(data, options: options)

            let reduction = BoxReduction(from: size, towards: options.target)
            #expect(reduction.factor == 2)
            #expect(try small.pixels == full.pixels.reduced(by: reduction), "\(data.count) of \(file.count) bytes")
            #expect(small.pixels.alphaMode == full.pixels.alphaMode)
            #expect(small.pixels.format == full.pixels.format)
            #expect(small.damage == full.damage)
            #expect(small.damage?.kind == (data == broken ? .harmless : .missingPixels))
        }
    }
}
