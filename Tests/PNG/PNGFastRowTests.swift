import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// Complete 8-bit files are decoded by this module's own reader and the same files in pieces by libpng. Both must
/// agree.
@Suite struct PNGFastRowTests {
    private static let channels: [UInt8: Int] = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]

    private let decoder = PNGDecoder()

    private func outcomes(
        _ file: Data, _ options: DecodingOptions = DecodingOptions()
    ) throws -> (fast: DecodingOutcome, rows: DecodingOutcome, pieces: DecodingOutcome) {
        let fast = try DecodingOutcome { try decoder.decode(file, options: options) }
        let rows = try DecodingOutcome {
            let collector = PixelRowCollector()
            try decoder.decodeRows(file, options: options, into: collector)
            return try #require(collector.image)
        }
        return (fast, rows, try DecodingOutcome(ofPieces: file, options))
    }

    /// Returns rows of random samples under random filters as a zlib stream of stored blocks.
    private func stream(_ size: PixelSize, colorType: UInt8, seed: UInt64) throws -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let channels = try #require(Self.channels[colorType])
        var rows: [UInt8] = []
        for _ in 0..<size.height {
            rows.append(UInt8.random(in: 0...4, using: &random))
            rows += (0..<size.width * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        var stream: [UInt8] = [0x78, 0x01]
        var rest = rows[...]
        repeat {
            let block = rest.prefix(40_000)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            for number in [count, ~count] { stream += [UInt8(number & 255), UInt8(number >> 8)] }
            stream += block
        } while !rest.isEmpty
        var (low, high) = (UInt32(1), UInt32(0))
        for byte in rows {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        let sums: [UInt32] = [high >> 8, high, low >> 8, low]
        return stream + sums.map { UInt8($0 & 255) }
    }

    private func head(_ size: PixelSize, colorType: UInt8) -> [[UInt8]] {
        let header = PNGWriter.header(
            width: UInt32(size.width), height: UInt32(size.height), colorType: colorType)
        guard colorType == 3 else { return [header] }
        let palette = (0..<200).flatMap { index -> [UInt8] in [UInt8(index), UInt8(255 - index), UInt8(index / 2)] }
        return [header, PNGWriter.chunk("PLTE", palette), PNGWriter.chunk("tRNS", [0, 100, 200])]
    }

    /// A stream with a wrong checksum, which is ignored, is inflated with zlib in batches of rows, and others with
    /// libdeflate at once.
    @Test(arguments: [0, 2, 3, 4, 6] as [UInt8], [true, false])
    func `every filter of every kind of file matches libpng`(colorType: UInt8, hasChecksum: Bool) throws {
        let sizes = (1...20).map { PixelSize(width: $0, height: 7) } + [PixelSize(width: 2_000, height: 15)]
        for (index, size) in sizes.enumerated() {
            var stream = try stream(size, colorType: colorType, seed: UInt64(index))
            if !hasChecksum { stream[stream.count - 1] ^= 1 }
            let third = stream.count / 3
            // In parts, one of them empty.
            let parts = [Array(stream[..<third]), [], Array(stream[third...])]
            let file = PNGWriter.file(
                head(size, colorType: colorType) + parts.map { PNGWriter.chunk("IDAT", $0) } + [PNGWriter.end])
            for options in [
                DecodingOptions(), DecodingOptions(alphaMode: .premultiplied), DecodingOptions(pixelFormat: .gray8),
                DecodingOptions(target: TargetSize(width: 3, height: 3)),
            ] {
                let seen = try outcomes(file, options)
                guard case .pixels = seen.pieces else {
                    Issue.record("\(size) is \(seen.pieces)")
                    return
                }
                #expect(seen.fast == seen.pieces, "\(size)")
                #expect(seen.rows == seen.pieces, "\(size)")
            }
        }
    }

    @Test func `unusual files are decoded by libpng`() throws {
        let size = PixelSize(width: 5, height: 3)
        let stream = try stream(size, colorType: 2, seed: 1)
        let head = head(size, colorType: 2)
        func file(_ stream: [UInt8], _ tail: [[UInt8]] = [PNGWriter.end]) -> Data {
            PNGWriter.file(head + [PNGWriter.chunk("IDAT", stream)] + tail)
        }
        var badFilter = stream
        badFilter[7] = 5
        var badHeader = stream
        badHeader[0] = 0x79
        var badChecksum = PNGWriter.chunk("IDAT", stream)
        badChecksum[badChecksum.count - 1] ^= 1
        var badText = PNGWriter.chunk("tEXt", [65, 0, 66])
        badText[badText.count - 1] ^= 1
        let files = [
            file(badFilter), file(badHeader), file(stream + [0]), file(Array(stream.dropLast(5))), file(stream, []),
            file(Array(stream.dropLast(30))),
            PNGWriter.file(head + [badChecksum, PNGWriter.end]), file(stream, [badText, PNGWriter.end]),
            file(stream, [PNGWriter.chunk("ABCD", [1]), PNGWriter.end]),
            file(stream, [PNGWriter.chunk("IDAT", [1, 2]), PNGWriter.end]),
            file(stream, [PNGWriter.chunk("tEXt", [65, 0], claimed: 900), PNGWriter.end]),
            PNGWriter.file(head + [PNGWriter.chunk("IDAT", stream, claimed: 0x8000_0000), PNGWriter.end]),
            PNGWriter.file(head + [PNGWriter.end]),
        ]
        for (index, file) in files.enumerated() {
            let seen = try outcomes(file)
            #expect(seen.fast == seen.pieces, "file \(index): \(seen)")
            #expect(seen.rows == seen.pieces, "file \(index): \(seen)")
        }
    }
}
