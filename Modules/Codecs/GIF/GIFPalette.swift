/// The colour of every index, as the four bytes of a pixel. Indices without a colour are opaque black.
struct GIFPalette {
    /// The most colours of a palette.
    static let maximumCount = 256

    /// One word an index; in memory red, green, blue, alpha.
    private(set) var pixels = [UInt32](repeating: Self.word(0, 0, 0, 255), count: Self.maximumCount)

    /// - Parameters:
    ///   - rgb: Red, green and blue of each colour.
    ///   - transparentIndex: The index that shows transparent black, if any.
    init(rgb: [UInt8], transparentIndex: Int?) {
        for index in 0..<min(Self.maximumCount, rgb.count / 3) {
            pixels[index] = Self.word(rgb[3 * index], rgb[3 * index + 1], rgb[3 * index + 2], 255)
        }
        if let transparentIndex, pixels.indices.contains(transparentIndex) { pixels[transparentIndex] = 0 }
    }

    private static func word(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> UInt32 {
        UInt32(littleEndian: UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24)
    }
}
