public import AlcedoCore

extension DecodedImage {
    /// Returns a square gray image of one level.
    ///
    /// - Parameters:
    ///   - side: The side in pixels. Values below 1 count as 1.
    ///   - level: The gray level, from 0 for black to 255 for white. Default: 128.
    public static func gray(side: Int, level: UInt8 = 128) -> DecodedImage {
        made(PixelSize(width: max(1, side), height: max(1, side)), format: .gray8) { _, _ in [level] }
    }

    /// Returns an opaque image whose pixels encode their position: red is the column and green the row, both modulo
    /// 256. Blue is 128.
    ///
    /// - Parameter size: The size in pixels. Sides below 1 count as 1.
    public static func coordinates(_ size: PixelSize) -> DecodedImage {
        made(PixelSize(width: max(1, size.width), height: max(1, size.height)), format: .rgba8) { x, y in
            [UInt8(truncatingIfNeeded: x), UInt8(truncatingIfNeeded: y), 128, 255]
        }
    }

    private static func made(_ size: PixelSize, format: PixelFormat, pixel: (Int, Int) -> [UInt8]) -> DecodedImage {
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let samples = pixel(x, y)
                    for (index, sample) in samples.enumerated() {
                        memory[y * stride + x * samples.count + index] = sample
                    }
                }
            }
        }
        guard let pixels else { preconditionFailure("cannot allocate a test image of \(size) pixels: out of memory") }
        return DecodedImage(pixels: pixels)
    }
}
