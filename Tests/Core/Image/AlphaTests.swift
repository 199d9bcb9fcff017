import AlcedoCore
import Testing

@Suite struct AlphaTests {
    /// Returns one row with every color level under one alpha.
    private func ramp(alpha: UInt8, mode: AlphaMode) throws -> PixelBuffer {
        let size = PixelSize(width: 256, height: 1)
        return try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: mode) { memory, _ in
                for x in 0..<256 {
                    for channel in 0..<3 { memory[x * 4 + channel] = UInt8(x) }
                    memory[x * 4 + 3] = alpha
                }
            })
    }

    @Test func `premultiplication rounds to nearest for every color and alpha`() throws {
        for alpha in UInt8.min...255 {
            let result = try ramp(alpha: alpha, mode: .straight).converted(to: .premultiplied)
            #expect(result.alphaMode == .premultiplied)
            let wrong = result.withUnsafeBytes { bytes in
                (0..<256).filter { Int(bytes[$0 * 4]) != Int((Double($0) * Double(alpha) / 255).rounded()) }
            }
            #expect(wrong.isEmpty, "alpha \(alpha)")
        }
    }

    @Test func `unpremultiplication rounds to nearest, clamps, and makes transparent pixels black`() throws {
        for alpha in UInt8.min...255 {
            let result = try ramp(alpha: alpha, mode: .premultiplied).converted(to: .straight)
            let wrong = result.withUnsafeBytes { bytes in
                (0..<256).filter { color in
                    let exact = alpha == 0 ? 0 : min(255, (Double(color) * 255 / Double(alpha)).rounded())
                    return Int(bytes[color * 4]) != Int(exact) || bytes[color * 4 + 3] != alpha
                }
            }
            #expect(wrong.isEmpty, "alpha \(alpha)")
        }
    }

    @Test func `a buffer already in the mode or without alpha is returned unchanged`() throws {
        let straight = try ramp(alpha: 7, mode: .straight)
        #expect(straight.converted(to: .straight) == straight)
        let gray = try #require(
            PixelBuffer(size: PixelSize(width: 2, height: 2), format: .gray8, alphaMode: .opaque))
        #expect(gray.converted(to: .premultiplied) == gray)
        #expect(straight.converted(to: .opaque) == straight)
        let opaque = straight.reinterpreted(as: .opaque)
        #expect(opaque.converted(to: .straight) == opaque)
    }
}
