import AlcedoCore
import AlcedoProcessing
import Foundation
import Testing

/// Comparison with the images of an independent program. See Fixtures/README.md.
@Suite struct ResizePillowTests {
    struct Expected: Sendable, CustomTestStringConvertible {
        let format: PixelFormat
        let filter: ResizeFilter
        let size: PixelSize
        let samples: [UInt8]
        var testDescription: String { "\(format) \(filter) \(size)" }
    }

    @Test func `every combination of format and filter has its reference images`() throws {
        let all = try Self.expected()

        #expect(all.count == 3 * 4 * 5)
    }

    @Test func `results differ from Pillow's by at most two levels`() throws {
        for expected in try Self.expected() {
            let image = DecodedImage(pixels: .pattern(expected.format))
            let processor = ImageProcessors.Resize(
                to: expected.size, mode: .exact, enlarges: true, sampling: ResizeSampling(expected.filter))

            let result = try processor.process(image).pixels.converted(to: .premultiplied)

            let channels = expected.samples.count / expected.size.pixelCount
            var largest = 0
            for (index, (x, y)) in result.positions.enumerated() {
                let pixel = result.pixel(x, y)
                for channel in 0..<channels {
                    let reference = Int(expected.samples[index * channels + channel])
                    largest = max(largest, abs(Int(pixel[channel]) - reference))
                }
            }
            #expect(largest <= 2, "\(expected.testDescription)")
        }
    }

    private static func expected() throws -> [Expected] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/pillow-resize.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let fields = line.split(separator: " ")
            try #require(fields.count == 5)
            let size = PixelSize(width: try #require(Int(fields[2])), height: try #require(Int(fields[3])))
            let digits = Array(fields[4].utf8)
            let samples = try stride(from: 0, to: digits.count, by: 2).map { index in
                try #require(UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16))
            }
            return Expected(
                format: try #require(PixelFormat(rawValue: String(fields[0]))),
                filter: try #require(ResizeFilter(rawValue: String(fields[1]))), size: size, samples: samples)
        }
    }
}
