import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

@Suite struct PNGPartTests {
    private let decoder = PNGDecoder()

    @Test(arguments: ["rgba.png", "rgb.png", "gray8.png", "rgb16.png"], [PixelFormat.rgba8, .gray8, .rgba16])
    func `received rows are exact and the others transparent`(name: String, format: PixelFormat) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions()).pixels.tightBytes
        var rowCounts: Set<Int> = []

        for count in 1..<data.count {
            let options = DecodingOptions(pixelFormat: format, allowsPartial: true)
            guard let part = try? decoder.decode(data.prefix(count), options: options) else { continue }
            #expect(part.damage?.error.code == .truncated)
            guard part.pixels.format == .rgba8 else { continue }
            let bytes = part.pixels.tightBytes
            let rows = (0..<Samples.size.height).prefix { y in
                bytes[52 * y..<52 * (y + 1)] == whole[52 * y..<52 * (y + 1)]
            }.count
            rowCounts.insert(rows)
            #expect(bytes[(52 * rows)...].allSatisfy { $0 == 0 }, "\(count) bytes")
            if rows < Samples.size.height { #expect(part.pixels.alphaMode == .straight) }
        }
        #expect(rowCounts.count > 1 || format == .rgba16 && name == "rgb16.png")
    }

    @Test func `a partial image can be reduced`() throws {
        let data = try fixture("rgb.png")
        let options = DecodingOptions(
            target: TargetSize(width: 4, height: 3), pixelFormat: .gray8, allowsPartial: true)
        let whole = try decoder.decode(data, options: options)
        var parts = 0

        for count in 1..<data.count {
            guard let part = try? decoder.decode(data.prefix(count), options: options) else { continue }
            #expect(part.size == whole.size)
            #expect(part.isPartial || part.pixels == whole.pixels && part.damage?.kind == .harmless)
            parts += part.isPartial ? 1 : 0
        }
        #expect(parts > 3)
        #expect(!whole.isPartial)
    }

    @Test func `limits apply to partial images, and a prefix without rows throws an error`() throws {
        let data = try fixture("rgb.png")
        let strict = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 1), allowsPartial: true)

        #expect(throws: ImageDecodingError.self) { try decoder.decode(data, options: strict) }
        #expect(throws: ImageDecodingError.self) {
            try decoder.decode(data.prefix(50), options: DecodingOptions(allowsPartial: true))
        }
    }
}
