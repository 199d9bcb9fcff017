import AlcedoCore

/// A function of color samples from 0 to 1, as a table of its values for all samples of a pixel format.
struct SampleCurve {
    private let values: [Float]
    private let maximum: Float

    /// Creates the table. Values outside 0 to 1 are clamped when they are written.
    init(_ format: PixelFormat, _ function: (_ sample: Double) -> Double) {
        let last = format.isDeep ? 65_535 : 255
        values = (0...last).map { Float(function(Double($0) / Double(last))) }
        maximum = Float(last)
    }

    /// Changes the color of the pixels, rounded to samples of the format, and keeps their alpha.
    func apply(to pixels: UnsafeMutableBufferPointer<SIMD4<Float>>) {
        values.withUnsafeBufferPointer { values in
            for x in pixels.indices {
                let pixel = Lanes.clamped(pixels[x], SIMD4(repeating: 1))
                let samples = Lanes.rounded(pixel * maximum)
                pixels[x] = SIMD4(values[Int(samples.x)], values[Int(samples.y)], values[Int(samples.z)], pixel.w)
            }
        }
    }
}
