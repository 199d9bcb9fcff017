public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Increases the contrast: stretches the luminance between two percentiles to the range from black to white.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.resize(width: 640), .normalize()])
    /// ```
    ///
    /// The percentiles are those of the luminance of `.grayscale`, in which every pixel counts by its alpha. Red, green
    /// and blue are stretched by the same linear function, so that gray stays gray, and samples outside its range are
    /// clamped. Images whose percentiles are equal do not change. Pillow's `autocontrast(preserve_tone=True)` is the
    /// same with other weights of red, green and blue. sharp stretches the lightness L* and keeps a* and b*, so that
    /// colors become less saturated.
    ///
    /// Works on every pixel format and on stored samples, with color not multiplied by alpha. The format and alpha are
    /// kept. All frames of an animation are stretched by the function of the first one, so that they do not flicker.
    /// Processing throws `invalidParameter` for invalid percentiles, and `tooLarge` when there is no memory for the
    /// result.
    ///
    /// - Parameters:
    ///   - lower: The percentile that becomes black, from 0 to below `upper`. Default: 1.
    ///   - upper: The percentile that becomes white, up to 100. Default: 99.
    /// - Complexity: O(*w* × *h*), one new buffer. Rows are collected into a whole image.
    public static func normalize(lower: Double = 1, upper: Double = 99) -> Self {
        Self(ImageProcessors.Normalize(lower: lower, upper: upper))
    }
}

extension ImageProcessors {
    /// The processor of `.normalize(lower:upper:)`.
    package struct Normalize: ImageProcessing {
        private let lower: Double
        private let upper: Double

        package init(lower: Double = 1, upper: Double = 99) {
            self.lower = lower
            self.upper = upper
        }

        package var identifier: String { "normalize:\(lower),\(upper)" }

        /// Returns the stretched image. All frames of an animation are stretched by the function of the first one.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            guard lower >= 0, lower < upper, upper <= 100 else {
                throw ImageProcessingError(.invalidParameter, "invalid percentiles: \(lower) to \(upper)")
            }
            return try Stretch(range: range(of: image.pixels)).process(image)
        }

        /// Returns the luminance at the percentiles, from 0 to 1, or `nil` when they are equal.
        private func range(of pixels: PixelBuffer) -> ClosedRange<Double>? {
            let last = pixels.format.isDeep ? 65_535 : 255
            let coding = PixelCoding(format: pixels.format, alphaMode: pixels.alphaMode)
            let row = PixelRow(pixels.width)
            var counts = [Int](repeating: 0, count: last + 1)
            pixels.withUnsafeBytes { memory in
                guard let base = memory.baseAddress else { return }
                for y in 0..<pixels.height {
                    coding.read(base + y * pixels.bytesPerRow, pixels.width, into: row.base)
                    if !pixels.format.isGray { ColorMatrix.gray.apply(to: row.base, count: pixels.width) }
                    for x in 0..<pixels.width {
                        let pixel = Lanes.clamped(row.base[x], SIMD4(repeating: 1))
                        let samples = Lanes.rounded(pixel * Float(last))
                        counts[Int(samples.x)] += Int(samples.w)
                    }
                }
            }
            let total = Double(counts.reduce(0, +))
            guard let low = Self.index(in: counts, after: total * lower / 100),
                let high = Self.index(in: counts.reversed(), after: total * (100 - upper) / 100),
                low < last - high
            else { return nil }
            return Double(low) / Double(last)...Double(last - high) / Double(last)
        }

        /// Returns the first index at which the sum of the counts exceeds `limit`, or `nil` when there is none.
        private static func index(in counts: [Int], after limit: Double) -> Int? {
            var sum = 0
            return counts.firstIndex { count in
                sum += count
                return Double(sum) > limit
            }
        }
    }
}

/// Stretches a range of samples to the range from 0 to 1.
private struct Stretch: PointProcessing {
    /// The range, or `nil` to change nothing.
    let range: ClosedRange<Double>?

    var identifier: String { "stretch" }

    func operation(on header: PixelRowHeader) -> PointOperation? {
        guard let range, range != 0...1 else { return nil }
        let curve = SampleCurve(header.format) { ($0 - range.lowerBound) / (range.upperBound - range.lowerBound) }
        return PointOperation(on: header) { pixels, _ in curve.apply(to: pixels) }
    }
}
