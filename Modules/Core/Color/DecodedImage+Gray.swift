extension DecodedImage {
    /// Whether the image can be stored as gray with alpha: a still image with alpha in which red, green and blue of
    /// every pixel are equal, and whose profile, if any, is one of gray.
    ///
    /// - Complexity: O(*w* × *h*) for such an image; the first pixel with a color ends the search.
    package var isGrayWithAlpha: Bool {
        guard pixels.hasAlphaSamples, !isAnimated else { return false }
        guard colorProfile.map({ ICCProfile.describes(gray: true, $0) }) ?? true else { return false }
        return (0..<pixels.height).allSatisfy { y in
            let row = pixels.row(y)
            return pixels.format == .rgba16
                ? (0..<pixels.width).allSatisfy { x in
                    let pixel = UInt64(littleEndian: row.unsafeLoad(fromByteOffset: 8 * x, as: UInt64.self))
                    return (pixel ^ pixel >> 16) & 0xFFFF_FFFF == 0
                }
                : (0..<pixels.width).allSatisfy { x in
                    let pixel = UInt32(littleEndian: row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self))
                    return (pixel ^ pixel >> 8) & 0xFFFF == 0
                }
        }
    }
}
