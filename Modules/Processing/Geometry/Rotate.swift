public import AlcedoCore

import AlcedoLibc

private import CSampleKernels

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Turns the image about its middle. The result is as large as it must be to hold all of it.
    ///
    /// Quarter turns copy pixels and keep the format. Other angles weigh 4 x 4 pixels by cubic convolution with color
    /// multiplied by alpha, and edges are anti-aliased against the background: under an opaque one the result is opaque,
    /// else opaque images get straight alpha and `gray8` and `rgbx8` become `rgba8`; `gray8` becomes `rgbx8` on a background
    /// in color. Directions are those of the rows in memory, that is before ``/AlcedoCore/DecodedImage/orientation``.
    ///
    /// Processing throws `invalidParameter` for an angle that is not finite, and `tooLarge` for a result that is larger than
    /// the source and than 2²⁸ pixels or 2¹⁶ a side.
    ///
    /// - Parameters:
    ///   - angle: In degrees, clockwise. Any finite number.
    ///   - background: Fills the corners that the image does not cover. Default: transparent.
    /// - Complexity: O(pixels of the result), one new buffer. Rows are collected.
    public static func rotate(clockwise angle: Double, background: PixelColor = .clear) -> Self {
        Self(ImageProcessors.Rotate(clockwise: angle, background: background))
    }
}

extension ImageProcessors {
    /// The processor of `.rotate(clockwise:background:)`.
    package struct Rotate: FramewiseProcessing {
        /// In degrees; any finite number.
        package let angle: Double
        /// What the corners are filled with that the image does not cover.
        package let background: PixelColor

        package init(clockwise angle: Double, background: PixelColor = .clear) {
            self.angle = angle
            self.background = background
        }

        /// Turns by quarters of a circle, clockwise; a negative number turns the other way.
        package init(quarterTurns: Int) { self.init(clockwise: Double(quarterTurns % 4) * 90) }

        /// Names the angle without full turns: the remainder is exact, so that 370 degrees and 10 are one image. Negative
        /// angles keep their sign, because the positive angle is not always a `Double`.
        package var identifier: String {
            // The sum with 0 makes -0 positive.
            let remainder = angle.isFinite ? angle.truncatingRemainder(dividingBy: 360) + 0 : angle
            return "rotate:\(remainder),\(background)"
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            guard angle.isFinite else {
                throw ImageProcessingError(.invalidParameter, "cannot turn by \(angle) degrees")
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

/// Turns pixels by an angle that is no quarter turn.
struct Rotation {
    // A row of the result crosses many of the source: neighbouring rows find in the cache what the first has read.
    private static let tileHeight = 16
    private static let tileWidth = 64

    let cosine: Double
    let sine: Double

    /// The size of the smallest upright rectangle that holds a turned picture of `source`.
    func size(of source: PixelSize) -> PixelSize {
        let (width, height) = (Double(source.width), Double(source.height))
        // What is only a rounding error longer needs no further pixel.
        let side = { (length: Double) in max(1, Int(min((length - 1e-6).rounded(.up), 1e15))) }
        return PixelSize(
            width: side(width * abs(cosine) + height * abs(sine)),
            height: side(width * abs(sine) + height * abs(cosine)))
    }

    /// The turned picture; nil when there is no such buffer.
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
            let format: PixelFormat = pixels.format == .rgba16 ? .rgba16 : .rgba8
            return (format, pixels.alphaMode == .opaque ? .straight : pixels.alphaMode)
        }
        return (pixels.format == .gray8 && !background.isGray ? .rgbx8 : pixels.format, .opaque)
    }

    /// Makes some columns of row `y` of the result: colour multiplied by alpha, nothing where the picture is not.
    func sample(
        _ y: Int, _ columns: Range<Int>, of size: PixelSize, _ pixels: PixelBuffer, _ base: UnsafeRawPointer,
        into out: UnsafeMutablePointer<Float>
    ) {
        let layout = SampleLayout(pixels.format, pixels.alphaMode)
        // The literal closures become part of the loops; passed through a variable they would be calls.
        switch layout {
        case .gray8:
            sample(y, columns, size, pixels, base, UnsafeMutableRawPointer(out)) {
                let sample = Float($0.load(fromByteOffset: $1, as: UInt8.self))
                return SIMD4(sample, sample, sample, 255)
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
                // Positive numbers are cut off downwards.
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

    /// Where the middle of row `y` of the result lies in the picture.
    private func start(_ y: Int, _ size: PixelSize, _ pixels: PixelBuffer) -> (x: Double, y: Double) {
        let down = Self.distance(y, of: size.height)
        return (
            down * sine + Double(pixels.width) / 2 - 0.5, down * cosine + Double(pixels.height) / 2 - 0.5
        )
    }

    /// How far the middle of a pixel is from the middle of the side.
    private static func distance(_ position: Int, of side: Int) -> Double {
        Double(position) + 0.5 - Double(side) / 2
    }

    @inline(__always)
    private static func multiplied(_ pixel: SIMD4<Float>, unit: Float) -> SIMD4<Float> {
        var factor = SIMD4<Float>(repeating: pixel.w * unit)
        factor.w = 1
        return pixel * factor
    }

    /// The weights of four pixels in a row for a place `t` behind the second, by ``ResizeFilter/catmullRom``.
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
            // At the picture's edges all samples overshoot alike, so that dividing gives the colour back.
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
        if layout == .gray8 {
            for x in 0..<width { floats[x] = floats[x * 4] }
        }
        RowWriter.write(floats, width: width, layout: layout, to: out)
    }
}
