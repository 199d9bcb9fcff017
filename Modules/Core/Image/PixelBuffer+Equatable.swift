extension PixelBuffer: Equatable {
    /// Whether both describe the same picture in the same format; padding does not count. O(*w* × *h*).
    public static func == (a: PixelBuffer, b: PixelBuffer) -> Bool {
        guard a.size == b.size, a.format == b.format, a.alphaMode == b.alphaMode else { return false }
        return a.withUnsafeBytes { left in
            b.withUnsafeBytes { right in
                (0..<a.height).allSatisfy { y in
                    let range = y * a.bytesPerRow..<y * a.bytesPerRow + a.usedBytesPerRow
                    return left[range].elementsEqual(right[range])
                }
            }
        }
    }
}
