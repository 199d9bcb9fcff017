public import AlcedoCore
import AlcedoRuntime

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Draws another image, such as a watermark, over the image.
    ///
    /// Works on every pixel format of both images, on stored samples. The parts of the overlay beyond the image's edges
    /// are clipped. The image keeps its size, format and alpha mode, except that `gray8` becomes `rgbx8` under an
    /// overlay with a color other than gray. Transparent pixels of the overlay do not count, so that a gray image stays
    /// gray under a gray watermark in any format. Positions refer to the rows in memory, before
    /// ``/AlcedoCore/DecodedImage/orientation`` is applied. Put `.orient` first to position the overlay on the
    /// displayed image. Processing throws `tooLarge` when there is no memory for the result.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.overlay(watermark, at: .bottomRight, x: -8, y: -8)])
    /// ```
    ///
    /// - Parameters:
    ///   - overlay: The overlay in its final size. The identifier contains a digest of its pixels, which is computed
    ///     once, when the processor is created.
    ///   - anchor: The position of the overlay in the image. Processing throws `invalidParameter` for an invalid
    ///     anchor. Default: `.center`.
    ///   - x: The number of pixels by which the overlay is moved to the right of the anchor; to the left if negative.
    ///     Default: 0.
    ///   - y: The number of pixels by which the overlay is moved down from the anchor; up if negative. Default: 0.
    ///   - mode: The formula that combines the overlay's colors with those of the image. Default: `.normal`, which
    ///     covers them.
    ///   - opacity: A factor of the overlay's alpha, from 0 to 1. Processing throws `invalidParameter` for other
    ///     values. Default: 1.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and three rows of memory for arriving rows.
    public static func overlay(
        _ overlay: PixelBuffer, at anchor: ImageProcessors.Anchor = .center, x: Int = 0, y: Int = 0,
        mode: ImageProcessors.BlendMode = .normal, opacity: Double = 1
    ) -> Self {
        Self(ImageProcessors.Overlay(overlay, at: anchor, x: x, y: y, mode: mode, opacity: opacity))
    }
}

extension ImageProcessors {
    /// The processor of `.overlay(_:at:x:y:mode:opacity:)`.
    package struct Overlay: PointProcessing {
        /// The image that is drawn over the processed image.
        package let overlay: PixelBuffer
        /// The position of the overlay in the image.
        package let anchor: Anchor
        /// The number of pixels by which the overlay is moved to the right of the anchor.
        package let x: Int
        /// The number of pixels by which the overlay is moved down from the anchor.
        package let y: Int
        /// The formula that combines the overlay's colors with those of the image.
        package let mode: BlendMode
        /// A factor of the overlay's alpha, from 0 to 1.
        package let opacity: Double
        package let identifier: String
        /// Whether every visible pixel of the overlay is gray.
        private let isGray: Bool

        package init(
            _ overlay: PixelBuffer, at anchor: Anchor = .center, x: Int = 0, y: Int = 0, mode: BlendMode = .normal,
            opacity: Double = 1
        ) {
            self.overlay = overlay
            self.anchor = anchor
            (self.x, self.y) = (x, y)
            self.mode = mode
            self.opacity = opacity
            isGray = Self.isGray(overlay)
            let size = "\(overlay.width)x\(overlay.height)"
            let pixels = "\(size),\(overlay.format.rawValue),\(overlay.alphaMode.rawValue),\(Self.digest(overlay))"
            identifier = "overlay:\(pixels),\(anchor.identifier),\(x);\(y),\(mode.rawValue),\(opacity)"
        }

        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard (0...1).contains(opacity) else {
                throw ImageProcessingError(.invalidParameter, "invalid opacity: \(opacity)")
            }
            let origin = try anchor.origin(of: overlay.size, in: header.size)
            let (left, tooFarRight) = origin.x.addingReportingOverflow(x)
            let (top, tooFarDown) = origin.y.addingReportingOverflow(y)
            let frame = PixelRect(x: left, y: top, width: overlay.width, height: overlay.height)
            guard opacity > 0, !tooFarRight, !tooFarDown, let area = frame.clipped(to: header.size) else { return nil }
            let format = header.format.isGray && !isGray ? header.format.opaqueColored : header.format
            let blending = Blending(mode: mode, keepsAlpha: false)
            let coding = PixelCoding(format: overlay.format, alphaMode: overlay.alphaMode)
            let row = PixelRow(area.size.width)
            let skipped = (area.x - left) * overlay.format.bytesPerPixel
            let share = SIMD4<Float>(1, 1, 1, Float(opacity))
            return PointOperation(on: header, format: format) { [overlay] pixels, line in
                guard line >= area.y, line < area.y + area.size.height, let base = pixels.baseAddress else { return }
                overlay.row(line - top).withUnsafeBytes { bytes in
                    guard let first = bytes.baseAddress else { return }
                    coding.read(first + skipped, area.size.width, into: row.base)
                }
                for index in 0..<area.size.width { row.base[index] *= share }
                blending.blend(row.base, step: 1, over: base + area.x, count: area.size.width)
            }
        }

        private static func digest(_ overlay: PixelBuffer) -> String {
            var hash = SHA256()
            for y in 0..<overlay.height { hash.update(overlay.row(y)) }
            return hash.finalizedHexadecimal()
        }

        private static func isGray(_ overlay: PixelBuffer) -> Bool {
            switch overlay.format {
            case .gray8, .gray16: true
            case .rgbx8: hasGrayRows(overlay, of: UInt8.self, hasAlpha: false)
            case .rgba8: hasGrayRows(overlay, of: UInt8.self, hasAlpha: overlay.alphaMode != .opaque)
            case .rgba16: hasGrayRows(overlay, of: UInt16.self, hasAlpha: overlay.alphaMode != .opaque)
            }
        }

        /// Returns whether every pixel is gray or, if `hasAlpha` is true, transparent. Pixels have four samples.
        private static func hasGrayRows<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
            _ overlay: PixelBuffer, of type: Sample.Type, hasAlpha: Bool
        ) -> Bool {
            let size = MemoryLayout<SIMD4<Sample>>.size
            return (0..<overlay.height).allSatisfy { y in
                overlay.row(y).withUnsafeBytes { row in
                    for offset in stride(from: 0, to: row.count, by: size) {
                        let pixel = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<Sample>.self)
                        let isInvisible = hasAlpha && pixel.w == 0
                        guard isInvisible || (pixel.x == pixel.y && pixel.y == pixel.z) else { return false }
                    }
                    return true
                }
            }
        }
    }
}
