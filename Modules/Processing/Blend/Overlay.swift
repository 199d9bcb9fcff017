public import AlcedoCore
import AlcedoRuntime

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Draws another image, such as a watermark, over the image.
    ///
    /// Works on every pixel format of both images, on stored samples. The parts of the overlay beyond the image's edges
    /// are clipped. The image keeps its size, format and alpha mode, except that `gray8` becomes `rgbx8` under an
    /// overlay that is not `gray8`. Positions refer to the rows in memory, before
    /// ``/AlcedoCore/DecodedImage/orientation`` is applied. Put `.orient` first to position the overlay on the
    /// displayed image.
    ///
    /// - Parameters:
    ///   - overlay: The overlay in its final size. Its pixels are part of the identifier and are read once, when the
    ///     processor is created.
    ///   - anchor: The position of the overlay in the image. Default: `.center`.
    ///   - offset: The distance in pixels by which the overlay is moved from the anchor. Default: zero.
    ///   - mode: The formula that combines its colors with those of the image. Default: `.normal`, which covers them.
    ///   - opacity: A factor of the overlay's alpha, from 0 to 1. Processing throws `invalidParameter` for other
    ///     values. Default: 1.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and three rows of memory for arriving rows.
    public static func overlay(
        _ overlay: PixelBuffer, at anchor: ImageProcessors.Anchor = .center,
        offset: PixelOffset = PixelOffset(x: 0, y: 0),
        mode: ImageProcessors.BlendMode = .normal, opacity: Double = 1
    ) -> Self {
        Self(ImageProcessors.Overlay(overlay, at: anchor, offset: offset, mode: mode, opacity: opacity))
    }
}

extension ImageProcessors {
    /// The processor of `.overlay(_:at:offset:mode:opacity:)`.
    package struct Overlay: PointProcessing {
        /// The image that is drawn over the processed image.
        package let overlay: PixelBuffer
        /// The position of the overlay in the image.
        package let anchor: Anchor
        /// The distance in pixels by which the overlay is moved right and down from the anchor.
        package let offset: PixelOffset
        /// The formula that combines its colors with those of the image.
        package let mode: BlendMode
        /// A factor of the overlay's alpha, from 0 to 1.
        package let opacity: Double
        package let identifier: String

        package init(
            _ overlay: PixelBuffer, at anchor: Anchor = .center, offset: PixelOffset = PixelOffset(x: 0, y: 0),
            mode: BlendMode = .normal, opacity: Double = 1
        ) {
            self.overlay = overlay
            self.anchor = anchor
            self.offset = offset
            self.mode = mode
            self.opacity = opacity
            let size = "\(overlay.width)x\(overlay.height)"
            let pixels = "\(size),\(overlay.format.rawValue),\(overlay.alphaMode.rawValue),\(Self.digest(overlay))"
            identifier = "overlay:\(pixels),\(anchor.identifier),\(offset.identifier),\(mode.rawValue),\(opacity)"
        }

        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard (0...1).contains(opacity) else {
                throw ImageProcessingError(.invalidParameter, "invalid opacity: \(opacity)")
            }
            let origin = try anchor.origin(of: overlay.size, in: header.size)
            let (x, tooFarRight) = origin.x.addingReportingOverflow(offset.x)
            let (y, tooFarDown) = origin.y.addingReportingOverflow(offset.y)
            let frame = PixelRect(x: x, y: y, width: overlay.width, height: overlay.height)
            guard opacity > 0, !tooFarRight, !tooFarDown, let area = frame.clipped(to: header.size) else { return nil }
            let format = header.format == .gray8 && overlay.format != .gray8 ? .rgbx8 : header.format
            let blending = Blending(mode: mode, keepsAlpha: false)
            let coding = PixelCoding(format: overlay.format, alphaMode: overlay.alphaMode)
            let row = PixelRow(area.size.width)
            let left = (area.x - x) * overlay.format.bytesPerPixel
            let share = SIMD4<Float>(1, 1, 1, Float(opacity))
            return PointOperation(on: header, format: format) { [overlay] pixels, line in
                guard line >= area.y, line < area.y + area.size.height, let base = pixels.baseAddress else { return }
                overlay.row(line - y).withUnsafeBytes { bytes in
                    guard let first = bytes.baseAddress else { return }
                    coding.read(first + left, area.size.width, into: row.base)
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
    }
}

/// A displacement in whole pixels.
public struct PixelOffset: Sendable, Hashable {
    let x: Int
    let y: Int

    /// Creates an offset of `x` pixels to the right and `y` pixels down. Negative numbers move left and up.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }

    /// The name of the offset in cache keys. It must not change between releases.
    var identifier: String { "\(x);\(y)" }
}
