public import AlcedoCore
import AlcedoRuntime

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Puts another image, such as a watermark, over the image.
    ///
    /// Works on every pixel format of either, on samples as they are stored. What reaches over the image's edges is cut off.
    /// The image keeps size, format and alpha mode, except that `gray8` becomes `rgbx8` under an overlay in color. Positions
    /// are those of the rows in memory, that is before ``/AlcedoCore/DecodedImage/orientation``; put `.orient` in front where
    /// that matters.
    ///
    /// - Parameters:
    ///   - overlay: In its own size. Its pixels are part of the identifier, for which they are read once, here.
    ///   - anchor: Where the overlay lies. Default: in the middle.
    ///   - offset: Pixels by which it is moved from there. Default: none.
    ///   - mode: How its colors are combined with those of the image. Default: they cover them.
    ///   - opacity: From 0 to 1, multiplied with the overlay's alpha. Processing throws `invalidParameter` for others.
    ///     Default: 1.
    /// - Complexity: O(*w* × *h*), one new buffer, or three rows.
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
        /// The picture that is put over the image.
        package let overlay: PixelBuffer
        /// Where it lies.
        package let anchor: Anchor
        /// Pixels by which the picture is moved right and down from where the anchor puts it.
        package let offset: PixelOffset
        /// How its colours meet those of the image.
        package let mode: BlendMode
        /// From 0 to 1, multiplied with the picture's alpha.
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
                throw ImageProcessingError(.invalidParameter, "an opacity of \(opacity) makes no sense")
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

    /// Creates an offset of `x` pixels to the right and `y` pixels down. Negative numbers go the other way.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }

    /// Stable: part of cache keys.
    var identifier: String { "\(x);\(y)" }
}
