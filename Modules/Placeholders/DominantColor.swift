public import AlcedoCore

extension DecodedImage {
    /// Returns the most common color of the image, or of the first frame of an animation; nil when every pixel is
    /// transparent.
    ///
    /// ```swift
    /// let background = try image.dominantColor()
    /// ```
    ///
    /// An image with a side of more than 100 pixels is averaged down to fit into 100 by 100 pixels. The pixels are then
    /// counted in overlapping cubes of 32 levels of red, green and blue. The result is the opaque average of the colors
    /// in the cube with the largest count. Pixels are weighted by their alpha. The color profile is not applied.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` with the code `outOfMemory`.
    /// - Complexity: O(*w* × *h*).
    public func dominantColor() throws(ImageDecodingError) -> PixelColor? {
        ColorHistogram(try ReducedImage(self)).dominantColor
    }
}

/// The counts of pixels in cubes of 16 levels of red, green and blue.
private struct ColorHistogram {
    private static let side = 16
    /// The sums of color times alpha, and of alpha, in each cube.
    private var sums = [SIMD4<Double>](repeating: .zero, count: Self.side * Self.side * Self.side)

    init(_ image: ReducedImage) {
        for pixel in image.pixels where pixel.w > 0 {
            let cube = pixel * 255.0 / 16.0
            var sum = pixel * pixel.w
            sum.w = pixel.w
            sums[Self.index(Int(cube.x), Int(cube.y), Int(cube.z))] += sum
        }
    }

    private static func index(_ red: Int, _ green: Int, _ blue: Int) -> Int { (red * side + green) * side + blue }

    /// The average color of the two-by-two-by-two cubes with the largest sum of alpha.
    var dominantColor: PixelColor? {
        var best = SIMD4<Double>.zero
        for red in 0..<Self.side - 1 {
            for green in 0..<Self.side - 1 {
                for blue in 0..<Self.side - 1 {
                    let sum = (0..<8).reduce(SIMD4<Double>.zero) { sum, corner in
                        sum + sums[Self.index(red + corner & 1, green + corner >> 1 & 1, blue + corner >> 2)]
                    }
                    if sum.w > best.w { best = sum }
                }
            }
        }
        guard best.w > 0 else { return nil }
        let color = best / best.w * 255.0
        let sample = { (value: Double) in UInt8(max(0, min(255, value)) + 0.5) }
        return PixelColor(red: sample(color.x), green: sample(color.y), blue: sample(color.z))
    }
}
