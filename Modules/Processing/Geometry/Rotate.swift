public import AlcedoCore

import AlcedoLibc

private import CSampleKernels

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Rotates the image about its center. The result is the smallest upright rectangle that contains the whole rotated
    /// image.
    ///
    /// Quarter turns copy pixels and keep the format. Other angles interpolate 4 × 4 pixels by cubic convolution, with
    /// color multiplied by alpha, and anti-alias the edges against the background. On an opaque background, the result
    /// is opaque; `gray8` becomes `rgbx8` when the background has color. On other backgrounds, opaque images become
    /// images with straight alpha, and `gray8` and `rgbx8` become `rgba8`. Directions refer to the rows in memory,
    /// before ``/AlcedoCore/DecodedImage/orientation`` is applied.
    ///
    /// Processing throws `invalidParameter` for an angle that is not finite. It throws `tooLarge` when there is no
    /// memory for the result, or when the result is larger than the source and exceeds a limit: 1 GiB for quarter
    /// turns, and 2²⁸ pixels or 2¹⁶ pixels on a side for other angles.
    ///
    /// - Parameters:
    ///   - angle: The clockwise angle in degrees. Any finite number.
    ///   - background: The color of the corners that the image does not cover. Default: transparent.
    /// - Complexity: O(pixels of the result), one new buffer. Rows are collected into a whole image.
    public static func rotate(clockwise angle: Double, background: PixelColor = .clear) -> Self {
        Self(ImageProcessors.Rotate(clockwise: angle, background: background))
    }
}

extension ImageProcessors {
    /// The processor of `.rotate(clockwise:background:)`.
    package struct Rotate: FramewiseProcessing {
        /// The clockwise angle in degrees. Any finite number.
        package let angle: Double
        /// The color of the corners that the image does not cover.
        package let background: PixelColor

        package init(clockwise angle: Double, background: PixelColor = .clear) {
            self.angle = angle
            self.background = background
        }

        /// The angle without full turns, and the background. The remainder is exact, so that 370 and 10 degrees have
        /// the same identifier. Negative angles keep their sign, because not every equivalent positive angle can be
        /// represented as a `Double`.
        package var identifier: String {
            // Adding 0 turns -0 into 0.
            let remainder = angle.isFinite ? angle.truncatingRemainder(dividingBy: 360) + 0 : angle
            return "rotate:\(remainder),\(background)"
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            guard angle.isFinite else {
                throw ImageProcessingError(.invalidParameter, "invalid rotation angle: \(angle) degrees")
            }
            let degrees = (angle.truncatingRemainder(dividingBy: 360) + 360).truncatingRemainder(dividingBy: 360)
            let quarters: [Double: ImageOrientation] = [0: .up, 90: .right, 180: .down, 270: .left]
            if let orientation = quarters[degrees] { return try image.oriented(from: orientation) }
            let radians = degrees * .pi / 180
            let rotation = Rotation(cosine: cos(radians), sine: sin(radians))
            let size = rotation.size(of: image.size)
            try PixelLimits.check(size, from: image.size)
            guard let pixels = rotation.rotated(image.pixels, size: size, background: background) else {
                throw PixelLimits.noBuffer(for: size)
            }
            return image.still(pixels)
        }
    }
}

/// A rotation of pixels by an angle that is not a multiple of a quarter turn.
struct Rotation {
    // A result row crosses many source rows. In tiles, adjacent rows reuse the source pixels that are in the CPU cache.
    private static let tileHeight = 16
    private static let tileWidth = 64

    let cosine: Double
    let sine: Double

    /// Returns the size of the smallest upright rectangle that contains the rotated image of size `source`.
    func size(of source: PixelSize) -> PixelSize {
        let (width, height) = (Double(source.width), Double(source.height))
        // A side that exceeds a whole number only by a rounding error gets no extra pixel.
        let side = { (length: Double) in max(1, Int(min((length - 1e-6).rounded(.up), 1e15))) }
        return PixelSize(
            width: side(width * abs(cosine) + height * abs(sine)),
            height: side(width * abs(sine) + height * abs(cosine)))
    }

    /// Returns the rotated image, or `nil` when the buffer cannot be created.
    func rotated(_ pixels: PixelBuffer, size: PixelSize, background: PixelColor) -> PixelBuffer? {
        let (format, alphaMode) = Self.kind(for: pixels, background)
        let layout = SampleLayout(format, alphaMode)
        var back = background.samples
        back = SIMD4(back.x * back.w, back.y * back.w, back.z * back.w, back.w) * layout.maximum
        return pixels.withUnsafeBytes { source in
            PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, bytesPerRow in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                let rows = Scratch<Float>(count: size.width * 4 * Self.tileHeight)
                for top in stride(from: 0, to: size.height, by: Self.tileHeight) {
                    let lines = top..<min(size.height, top + Self.tileHeight)
                    for left in stride(from: 0, to: size.width, by: Self.tileWidth) {
                        let columns = left..<min(size.width, left + Self.tileWidth)
                        for y in lines {
                            let row = rows.base + (y - top) * size.width * 4
                            sample(y, columns, of: size, pixels, from, into: row)
                        }
                    }
                    for y in lines {
                        let row = rows.base + (y - top) * size.width * 4
                        Self.put(row, size.width, over: back, maximum: layout.maximum)
                        Self.write(row, size.width, layout, to: to + y * bytesPerRow)
                    }
                }
            }
        }
    }

    private static func kind(for pixels: PixelBuffer, _ background: PixelColor) -> (PixelFormat, AlphaMode) {
        guard background.isOpaque else {
            return (pixels.format.colored, pixels.alphaMode == .opaque ? .straight : pixels.alphaMode)
        }
        return (pixels.format.isGray && !background.isGray ? pixels.format.opaqueColored : pixels.format, .opaque)
    }

    /// Writes the pixels of row `y` of the result in the given columns, with color multiplied by alpha. Pixels outside
    /// the image are transparent.
    func sample(
        _ y: Int, _ columns: Range<Int>, of size: PixelSize, _ pixels: PixelBuffer, _ base: UnsafeRawPointer,
        into out: UnsafeMutablePointer<Float>
    ) {
        let layout = SampleLayout(pixels.format, pixels.alphaMode)
        // The compiler inlines literal closures into the loops. Closures in a variable would be called for each pixel.
        switch layout {
        case .gray8:
            sample(y, columns, size, pixels, base, UnsafeMutableRawPointer(out)) {
                let sample = Float($0.load(fromByteOffset: $1, as: UInt8.self))
                return SIMD4(sample, sample, sample, 255)
            }
        case .gray16:
            sample(y, columns, size, pixels, base, UnsafeMutableRawPointer(out)) {
                let sample = Float($0.loadUnaligned(fromByteOffset: 2 &* $1, as: UInt16.self))
                return SIMD4(sample, sample, sample, 65_535)
            }
        case .color8, .straight8:
            let start = start(y, size, pixels)
            var image = alcedo_source_image(
                base: base.assumingMemoryBound(to: UInt8.self), bytes_per_row: pixels.bytesPerRow,
                width: pixels.width, height: pixels.height, is_straight: layout == .straight8 ? 1 : 0)
            alcedo_sample_line(
                &image, start.x, start.y, cosine, sine, Self.distance(columns.lowerBound, of: size.width),
                columns.count, out + columns.lowerBound * 4)
        case .color16:
            sample(y, columns, size, pixels, base, UnsafeMutableRawPointer(out)) { RowReader.color16($0, $1) }
        case .straight16:
            sample(y, columns, size, pixels, base, UnsafeMutableRawPointer(out)) {
                Self.multiplied(RowReader.color16($0, $1), unit: 1 / 65_535)
            }
        }
    }

    @inline(__always)
    private func sample(
        _ y: Int, _ range: Range<Int>, _ size: PixelSize, _ pixels: PixelBuffer, _ base: UnsafeRawPointer,
        _ out: UnsafeMutableRawPointer, _ load: (_ row: UnsafeRawPointer, _ x: Int) -> SIMD4<Float>
    ) {
        let start = start(y, size, pixels)
        for x in range {
            let across = Self.distance(x, of: size.width)
            let (sourceX, sourceY) = (across * cosine + start.x, start.y - across * sine)
            var sums = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
            if sourceX >= -2, sourceX < Double(pixels.width + 1), sourceY >= -2, sourceY < Double(pixels.height + 1) {
                // The added 2 makes the numbers at least 0, so that the conversion to `Int` rounds down.
                let (left, top) = (Int(sourceX + 2) - 2, Int(sourceY + 2) - 2)
                let columns = Self.weights(Float(sourceX - Double(left)))
                let rows = Self.weights(Float(sourceY - Double(top)))
                for j in 0..<4 where top - 1 + j >= 0 && top - 1 + j < pixels.height {
                    let row = base + (top - 1 + j) * pixels.bytesPerRow
                    func weighed(_ i: Int) -> SIMD4<Float> {
                        let x = left - 1 + i
                        return x >= 0 && x < pixels.width ? load(row, x) * columns[i] * rows[j] : SIMD4<Float>()
                    }
                    sums.0 += weighed(0)
                    sums.1 += weighed(1)
                    sums.2 += weighed(2)
                    sums.3 += weighed(3)
                }
            }
            let sum = (sums.0 + sums.2) + (sums.1 + sums.3)
            out.storeBytes(of: sum, toByteOffset: x &* 16, as: SIMD4<Float>.self)
        }
    }

    /// Returns the source position of the midpoint of result row `y`.
    private func start(_ y: Int, _ size: PixelSize, _ pixels: PixelBuffer) -> (x: Double, y: Double) {
        let down = Self.distance(y, of: size.height)
        return (
            down * sine + Double(pixels.width) / 2 - 0.5, down * cosine + Double(pixels.height) / 2 - 0.5
        )
    }

    /// Returns the distance of a pixel's center from the center of the side.
    private static func distance(_ position: Int, of side: Int) -> Double {
        Double(position) + 0.5 - Double(side) / 2
    }

    @inline(__always)
    private static func multiplied(_ pixel: SIMD4<Float>, unit: Float) -> SIMD4<Float> {
        var factor = SIMD4<Float>(repeating: pixel.w * unit)
        factor.w = 1
        return pixel * factor
    }

    /// Returns the weights of four consecutive pixels for a position `t` after the second, by
    /// ``ResizeFilter/catmullRom``.
    @inline(__always)
    private static func weights(_ t: Float) -> SIMD4<Float> {
        let (t2, t3) = (t * t, t * t * t)
        return SIMD4(
            (-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2, (t3 - t2) / 2)
    }

    private static func put(
        _ row: UnsafeMutableRawPointer, _ width: Int, over back: SIMD4<Float>, maximum: Float
    ) {
        for x in 0..<width {
            var pixel = row.load(fromByteOffset: x &* 16, as: SIMD4<Float>.self)
            // At the image's edges all samples overshoot by the same factor, so that dividing restores the color.
            if pixel.w > maximum { pixel *= maximum / pixel.w }
            let alpha = max(0, pixel.w)
            let result = Lanes.clamped(pixel, SIMD4(repeating: alpha)) + back * (1 - alpha / maximum)
            row.storeBytes(of: result, toByteOffset: x &* 16, as: SIMD4<Float>.self)
        }
    }

    private static func write(
        _ floats: UnsafeMutablePointer<Float>, _ width: Int, _ layout: SampleLayout,
        to out: UnsafeMutableRawPointer
    ) {
        if layout.channels == 1 {
            for x in 0..<width { floats[x] = floats[x * 4] }
        }
        RowWriter.write(floats, width: width, layout: layout, to: out)
    }
}
