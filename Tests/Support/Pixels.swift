package import AlcedoCore
package import FoundationEssentials

extension PixelBuffer {
    /// The bytes of all pixels, without padding.
    package var tightBytes: [UInt8] {
        withUnsafeBytes { memory in
            (0..<height).flatMap { y in memory[y * bytesPerRow..<y * bytesPerRow + usedBytesPerRow] }
        }
    }

    /// Red, green, blue and alpha of one pixel.
    package func rgba(_ x: Int, _ y: Int) -> [UInt8] {
        row(y).withUnsafeBytes { Array($0[4 * x..<4 * x + 4]) }
    }
}

/// Returns the RGBA bytes with the color of transparent pixels, which a decoder chooses, set to zero.
package func clearingTransparent(_ rgba: Data) -> [UInt8] {
    var bytes = Array(rgba)
    for pixel in stride(from: 0, to: bytes.count, by: 4) where bytes[pixel + 3] == 0 {
        bytes.replaceSubrange(pixel..<pixel + 4, with: [0, 0, 0, 0])
    }
    return bytes
}
