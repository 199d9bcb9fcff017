public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Removes the border of one color around the contents of the image, such as the white margin of a scan or the
    /// transparent one of a logo.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.trim(), .resize(width: 320)])
    /// ```
    ///
    /// A row or column at an edge belongs to the border if all its pixels resemble the color. An image that consists of
    /// the border only is not changed. The color under transparent pixels does not count. Works on every pixel format,
    /// and keeps it. The border of an animation is that of its first frame. Processing throws `invalidParameter` for an
    /// invalid tolerance, and `tooLarge` when there is no memory for the result.
    ///
    /// - Parameters:
    ///   - color: The color of the border. Default: `nil`, for the pixel in the top left corner.
    ///   - tolerance: The maximum difference of a sample, with color multiplied by alpha, in levels of 8 bits from 0 to
    ///     255. Default: 10.
    /// - Complexity: O(*w* × *h*), one new buffer. Rows are collected into a whole image.
    public static func trim(_ color: PixelColor? = nil, tolerance: Int = 10) -> Self {
        Self(ImageProcessors.Trim(color, tolerance: tolerance))
    }
}

extension ImageProcessors {
    /// The processor of `.trim(_:tolerance:)`.
    package struct Trim: ImageProcessing {
        /// The color of the border, or `nil` for the pixel in the top left corner.
        package let color: PixelColor?
        /// The maximum difference of a sample, from 0 to 255.
        package let tolerance: Int

        package init(_ color: PixelColor? = nil, tolerance: Int = 10) {
            self.color = color
            self.tolerance = tolerance
        }

        package var identifier: String { "trim:\(color?.description ?? "corner"),\(tolerance)" }

        /// Returns the contents. All frames of an animation are cropped to those of the first one, so that they keep
        /// equal sizes.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            guard (0...255).contains(tolerance) else {
                throw ImageProcessingError(.invalidParameter, "invalid tolerance: \(tolerance)")
            }
            guard let contents = contents(of: image.pixels) else { return image }
            return try Crop(contents).process(image)
        }

        /// Returns the rectangle inside the border, or `nil` when the whole image belongs to the border.
        func contents(of pixels: PixelBuffer) -> PixelRect? {
            pixels.withUnsafeBytes { memory in
                guard let base = memory.baseAddress else { return nil }
                let coding = PixelCoding(format: pixels.format, alphaMode: pixels.alphaMode)
                let row = PixelRow(pixels.width)
                coding.read(base, 1, into: row.base)
                let border = Self.multiplied(color?.samples ?? row.base[0])
                // A difference of exactly the tolerance must not exceed it by a rounding error. A level of 16 bits is
                // twice this margin.
                let limit = (Float(tolerance) + 0.002) / 255
                /// Returns the first and the last of the pixels of row `y` in `columns` that differ from the border.
                func differing(_ y: Int, _ columns: Range<Int>) -> (first: Int, last: Int)? {
                    let start = base + y * pixels.bytesPerRow + columns.lowerBound * pixels.format.bytesPerPixel
                    coding.read(start, columns.count, into: row.base)
                    let differs = { (x: Int) -> Bool in
                        let distance = Self.multiplied(row.base[x]) - border
                        return distance.max() > limit || distance.min() < -limit
                    }
                    guard let first = (0..<columns.count).first(where: differs),
                        let last = (0..<columns.count).last(where: differs)
                    else { return nil }
                    return (columns.lowerBound + first, columns.lowerBound + last)
                }
                let whole = 0..<pixels.width
                guard let top = (0..<pixels.height).first(where: { differing($0, whole) != nil }),
                    let bottom = (top..<pixels.height).last(where: { differing($0, whole) != nil }),
                    var (left, right) = differing(top, whole)
                else { return nil }
                // Only pixels outside of the columns that were found can extend them.
                for y in top...bottom {
                    if let found = differing(y, 0..<left) { left = found.first }
                    if let found = differing(y, right + 1..<pixels.width) { right = found.last }
                }
                return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
            }
        }

        private static func multiplied(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
            var result = pixel * pixel.w
            result.w = pixel.w
            return result
        }
    }
}
