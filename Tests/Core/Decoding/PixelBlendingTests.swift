import Testing

@testable import AlcedoCore

@Suite struct PixelBlendingTests {
    private static let levels: [UInt32] = [0, 1, 2, 63, 64, 127, 128, 129, 200, 253, 254, 255]

    private func draw(
        _ source: [UInt8], over target: [UInt8], _ blend: (SIMD4<UInt32>, SIMD4<UInt32>) -> SIMD4<UInt32>
    ) -> [UInt8] {
        var result = target
        source.withUnsafeBytes { source in
            result.withUnsafeMutableBytes { PixelBlending.drawOver(source, $0, blend) }
        }
        return result
    }

    @Test func `blending is within half a level of the exact value`() {
        for alpha in Self.levels where alpha > 0 {
            for below in Self.levels {
                for color in Self.levels {
                    let other = 255 - color
                    let result = PixelBlending.over(
                        SIMD4(color, other, 7, alpha), SIMD4(other, color, 99, below))
                    let top = Double(alpha) / 255
                    let rest = Double(below) / 255 * (1 - top)
                    #expect(abs(Double(result.w) - (top + rest) * 255) <= 0.5 + 1e-9)
                    for (channel, (above, under)) in [(color, other), (other, color), (7, 99)].enumerated() {
                        let expected = (Double(above) * top + Double(under) * rest) / (top + rest)
                        #expect(abs(Double(result[channel]) - expected) <= 0.5 + 1e-9)
                    }
                }
            }
        }
    }

    @Test func `opaque pixels replace and transparent ones change nothing`() {
        let target: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 255]
        for blend in [PixelBlending.over, PixelBlending.overAsLibwebp] {
            #expect(draw([9, 9, 9, 0, 8, 8, 8, 0, 7, 7, 7, 0], over: target, blend) == target)
            let opaque: [UInt8] = [9, 9, 9, 255, 8, 8, 8, 255, 7, 7, 7, 255]
            #expect(draw(opaque, over: target, blend) == opaque)
        }
    }

    @Test func `a pixel blended over transparency is unchanged`() {
        for alpha in Self.levels where alpha > 0 {
            let pixel = SIMD4<UInt32>(200, 100, 3, alpha)
            #expect(PixelBlending.over(pixel, SIMD4(repeating: 0)) == pixel)
        }
        #expect(PixelBlending.over(SIMD4(repeating: 0), SIMD4(1, 2, 3, 0)) == SIMD4(repeating: 0))
    }

    /// Calculated by hand from the C source, which rounds down in places.
    @Test func `libwebp's rounding is reproduced`() {
        let table: [(SIMD4<UInt32>, SIMD4<UInt32>, SIMD4<UInt32>)] = [
            // below = 255 * 128 >> 8 = 127, alpha = 255, scale = 65793: (200 * 128 + 10 * 127) * 65793 >> 24 = 105
            (SIMD4(200, 0, 255, 128), SIMD4(10, 255, 255, 255), SIMD4(105, 126, 254, 255)),
            // below = 100 * 206 >> 8 = 80, alpha = 130, scale = 129055: (90 * 50 + 30 * 80) * 129055 >> 24 = 53
            (SIMD4(90, 1, 0, 50), SIMD4(30, 1, 0, 100), SIMD4(53, 0, 0, 130)),
            (SIMD4(5, 6, 7, 0), SIMD4(5, 6, 7, 0), SIMD4(repeating: 0)),
        ]
        for (source, target, expected) in table {
            #expect(PixelBlending.overAsLibwebp(source, target) == expected)
        }
    }
}
