import AlcedoCore

extension PixelColor {
    /// The samples from 0 to 1.
    var samples: SIMD4<Float> {
        SIMD4(Float(red), Float(green), Float(blue), Float(alpha)) / 255
    }

    var isOpaque: Bool { alpha == 255 }
    var isGray: Bool { red == green && green == blue }
}
