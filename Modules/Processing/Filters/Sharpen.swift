public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Sharpens the image with an unsharp mask that treats flat and jagged areas differently.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.resize(width: 320), .sharpen(sigma: 0.5, flat: 0)])
    /// ```
    ///
    /// The mask is the difference between the lightness L* (0 to 100) of a pixel and that of its Gaussian blur. A
    /// difference of at most `threshold` is multiplied by `flat`, and what exceeds the threshold by `jagged`. The
    /// result is limited to `brightening` and `darkening` and added to the lightness. Red, green and blue keep their
    /// ratios in linear light, so that edges do not change their hue.
    ///
    /// The parameters and their values are those of `sharpen` in sharp and libvips:
    ///
    /// | Parameter | sharp, libvips | Default | Default of sharp | Default of libvips |
    /// |--|--|--|--|--|
    /// | `sigma` | `sigma` | | | 0.5 |
    /// | `flat` | `m1` | 1 | 1 | 0 |
    /// | `jagged` | `m2` | 2 | 2 | 3 |
    /// | `threshold` | `x1` | 2 | 2 | 2 |
    /// | `brightening` | `y2` | 10 | 10 | 10 |
    /// | `darkening` | `y3` | 20 | 20 | 20 |
    ///
    /// Gray test images differ from those of libvips by at most 4 of 255 levels, because libvips ends the Gaussian at a
    /// tenth of its height and rounds the weights. In color, libvips keeps the differences a* and b* instead of the
    /// ratios, which makes bright edges of saturated colors paler. sharp blurs transparent pixels as black; here,
    /// pixels count by their alpha, so that transparent surroundings do not change a pixel. Without parameters, sharp
    /// convolves the samples with a matrix of 3 x 3 instead; this processor has no equivalent.
    ///
    /// Works on every pixel format, and keeps it and alpha. Samples are interpreted as sRGB. Beyond the edges, the
    /// outermost pixels are repeated. Every frame of an animation is processed when it is requested. Processing throws
    /// `invalidParameter` for parameters outside their ranges, and `tooLarge` when the rows in flight need more than
    /// 1 GiB or there is no memory for the result.
    ///
    /// - Parameters:
    ///   - sigma: The standard deviation of the blur in pixels, from 0 to 10. Values below 0.15 change nothing.
    ///   - flat: The factor of small differences, from 0 to 1,000,000. With 0, flat areas and their noise do not
    ///     change. Default: 1.
    ///   - jagged: The factor of large differences, from 0 to 1,000,000. Default: 2.
    ///   - threshold: The difference of lightness above which an area is jagged, from 0 to 1,000,000. Default: 2.
    ///   - brightening: The maximum increase of lightness, from 0 to 1,000,000. Default: 10.
    ///   - darkening: The maximum decrease of lightness, from 0 to 1,000,000. Default: 20.
    /// - Complexity: O(*w* × *h* × sigma) up to a sigma of 4, O(*w* × *h*) above. Whole images and rows both need
    ///   memory for about 4 × sigma rows of the image and 10 × sigma rows of floats, in addition to the result. With
    ///   alpha, the floats are twice as many.
    public static func sharpen(
        sigma: Double, flat: Double = 1, jagged: Double = 2, threshold: Double = 2, brightening: Double = 10,
        darkening: Double = 20
    ) -> Self {
        Self(
            ImageProcessors.Sharpen(
                sigma: sigma, flat: flat, jagged: jagged, threshold: threshold, brightening: brightening,
                darkening: darkening))
    }
}

extension ImageProcessors {
    /// The processor of `.sharpen(sigma:flat:jagged:threshold:brightening:darkening:)`.
    package struct Sharpen: NeighborhoodProcessing {
        package static let maximumSigma = 10.0
        private static let maximumAmount = 1e6

        private let sigma: Double
        private let flat: Double
        private let jagged: Double
        private let threshold: Double
        private let brightening: Double
        private let darkening: Double

        package init(
            sigma: Double, flat: Double = 1, jagged: Double = 2, threshold: Double = 2, brightening: Double = 10,
            darkening: Double = 20
        ) {
            self.sigma = sigma
            self.flat = flat
            self.jagged = jagged
            self.threshold = threshold
            self.brightening = brightening
            self.darkening = darkening
        }

        package var identifier: String {
            "sharpen:\(sigma),\(flat),\(jagged),\(threshold),\(brightening),\(darkening)"
        }

        func makeFilter(for header: PixelRowHeader) throws(ImageProcessingError) -> (any RowFilter)? {
            guard isValid else {
                throw ImageProcessingError(.invalidParameter, "invalid parameter of a sharpening: \(identifier)")
            }
            guard let kernel = BlurKernel(sigma: sigma), max(flat, jagged) > 0, max(brightening, darkening) > 0 else {
                return nil
            }
            let mask = UnsharpMask(
                flat: Float(flat), jagged: Float(jagged), threshold: Float(threshold),
                limits: -Float(darkening)...Float(brightening))
            return SharpenedRows(header, kernel, mask)
        }

        private var isValid: Bool {
            (0...Self.maximumSigma).contains(sigma)
                && [flat, jagged, threshold, brightening, darkening].allSatisfy((0...Self.maximumAmount).contains)
        }

        func filterByteCount(for header: PixelRowHeader) -> Int {
            guard isValid, let kernel = BlurKernel(sigma: sigma) else { return 0 }
            return SharpenedRows.byteCount(for: header, kernel)
        }
    }
}

/// The change of lightness by its difference from the blurred lightness.
private struct UnsharpMask {
    let flat: Float
    let jagged: Float
    let threshold: Float
    let limits: ClosedRange<Float>

    func change(of difference: Float) -> Float {
        // The rounding errors of the blur must not change uniform areas. The lightness of a 16-bit level is greater.
        guard abs(difference) > 0.001 else { return 0 }
        let small = max(-threshold, min(threshold, difference))
        return max(limits.lowerBound, min(limits.upperBound, small * flat + (difference - small) * jagged))
    }
}

/// Sharpens rows of samples. Keeps each row until the blurred lightness is known.
private final class SharpenedRows: RowFilter {
    private let size: PixelSize
    private let bytesPerRow: Int
    private let coding: PixelCoding
    private let mask: UnsharpMask
    private let keptCount: Int
    private let rows: Scratch<UInt8>
    private let lightness: Scratch<Float>
    private let pixels: PixelRow
    /// Blurs the lightness, multiplied by alpha.
    private let blurred: Blurrer
    /// Blurs the alpha; `nil` for opaque images.
    private let coverage: Blurrer?
    private var taken = 0
    private var given = 0

    init(_ header: PixelRowHeader, _ kernel: BlurKernel, _ mask: UnsharpMask) {
        size = header.size
        bytesPerRow = header.bytesPerRow
        coding = PixelCoding(format: header.format, alphaMode: header.alphaMode)
        self.mask = mask
        keptCount = kernel.reach + 1
        rows = Scratch(count: keptCount * bytesPerRow)
        lightness = Scratch(count: keptCount * size.width)
        pixels = PixelRow(size.width)
        blurred = Blurrer(kernel, size: size, channels: 1)
        coverage = Self.hasCoverage(header) ? Blurrer(kernel, size: size, channels: 1) : nil
    }

    /// Returns the number of bytes of the kept rows and of the blurs, or `Int.max` when the number overflows.
    static func byteCount(for header: PixelRowHeader, _ kernel: BlurKernel) -> Int {
        let width = header.size.width
        let kept = (header.bytesPerRow + width * MemoryLayout<Float>.stride)
            .multipliedReportingOverflow(by: kernel.reach + 1)
        let blur = kernel.byteCount(width: width, channels: 1)
        return (kept.overflow ? .max : kept.partialValue)
            .addingClamped(width * MemoryLayout<SIMD4<Float>>.stride).addingClamped(blur)
            .addingClamped(hasCoverage(header) ? blur : 0)
    }

    private static func hasCoverage(_ header: PixelRowHeader) -> Bool {
        header.format.hasAlpha && header.alphaMode != .opaque
    }

    func push(_ row: UnsafeRawPointer) {
        guard taken < size.height else { return }
        let slot = taken % keptCount
        taken += 1
        UnsafeMutableRawPointer(rows.base + slot * bytesPerRow).copyMemory(from: row, byteCount: bytesPerRow)
        coding.read(row, size.width, into: pixels.base)
        let (lights, input, alphas) = (lightness.base + slot * size.width, blurred.input, coverage?.input)
        for x in 0..<size.width {
            let pixel = pixels.base[x]
            lights[x] = Lightness.of(pixel)
            input[x] = lights[x] * pixel.w
            alphas?[x] = pixel.w
        }
        blurred.push()
        coverage?.push()
    }

    func pull(into out: UnsafeMutableRawPointer) -> Bool {
        // Both take each row to their end, also if it completes none.
        let (sums, alphas) = (blurred.pull(), coverage?.pull())
        guard let sums else { return false }
        let slot = given % keptCount
        given += 1
        coding.read(rows.base + slot * bytesPerRow, size.width, into: pixels.base)
        let lights = lightness.base + slot * size.width
        // Black and transparent pixels stay what they are.
        for x in 0..<size.width where lights[x] > 0 && pixels.base[x].w > 0 {
            let mean = alphas.map { sums[x] / $0[x] } ?? sums[x]
            let result = max(0, min(100, lights[x] + mask.change(of: lights[x] - mean)))
            if result != lights[x] {
                pixels.base[x] = Lightness.changed(pixels.base[x], from: lights[x], to: result)
            }
        }
        coding.write(pixels.base, size.width, to: out)
        return true
    }
}
