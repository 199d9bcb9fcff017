import AlcedoCore

extension PixelBuffer {
    /// Whether every alpha sample of an RGBA8 buffer is at its maximum. O(*w* × *h*), less when an early row is not.
    var hasOnlyOpaquePixels: Bool {
        withUnsafeBytes { memory in
            (0..<height).allSatisfy { y in
                let row = memory[y * bytesPerRow..<y * bytesPerRow + usedBytesPerRow]
                let words = UnsafeRawBufferPointer(rebasing: row).bindMemory(to: UInt32.self)
                return UInt32(littleEndian: words.reduce(.max, &)) >> 24 == 255
            }
        }
    }
}
