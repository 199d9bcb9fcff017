public import AlcedoCore
import AlcedoRuntime

extension ImageProcessors {
    /// Puts a picture, such as a watermark, over an image.
    ///
    /// Works on every pixel format of either, on samples as they are stored. What reaches over the image's edges is cut
    /// off. The image keeps size, format and alpha mode, except that `gray8` becomes `rgbx8` under a picture in colour.
    /// Places are those of the rows in memory, that is before ``DecodedImage/orientation``; put ``Orient`` in front
    /// where that matters.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer, or three rows. Making one reads the picture once for its identifier.
    public struct Overlay: PointProcessing, HashableByIdentifier {
        /// The picture that is put over the image.
        package let picture: PixelBuffer
        /// Where it lies.
        package let anchor: Anchor
        /// Pixels by which the picture is moved right and down from where the anchor puts it.
        package let offset: PixelOffset
        /// How its colours meet those of the image.
        package let mode: BlendMode
        /// From 0 to 1, multiplied with the picture's alpha.
        package let opacity: Double
        public let identifier: String

        package init(
            _ picture: PixelBuffer, at anchor: Anchor = .center, offset: PixelOffset = PixelOffset(x: 0, y: 0),
            mode: BlendMode = .normal, opacity: Double = 1
        ) {
            self.picture = picture
            self.anchor = anchor
            self.offset = offset
            self.mode = mode
            self.opacity = opacity
            let size = "\(picture.width)x\(picture.height)"
            let pixels = "\(size),\(picture.format.rawValue),\(picture.alphaMode.rawValue),\(Self.digest(picture))"
            identifier = "overlay:\(pixels),\(anchor.identifier),\(offset.identifier),\(mode.rawValue),\(opacity)"
        }

        public func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork? {
            guard (0...1).contains(opacity) else {
                throw ImageProcessingError(.invalidParameter, "an opacity of \(opacity) makes no sense")
            }
            let origin = try anchor.origin(of: picture.size, in: header.size)
            let (x, tooFarRight) = origin.x.addingReportingOverflow(offset.x)
            let (y, tooFarDown) = origin.y.addingReportingOverflow(offset.y)
            let placed = PixelRect(x: x, y: y, width: picture.width, height: picture.height)
            guard opacity > 0, !tooFarRight, !tooFarDown, let area = placed.clipped(to: header.size) else { return nil }
            let format = header.format == .gray8 && picture.format != .gray8 ? .rgbx8 : header.format
            let blending = Blending(mode: mode, keepsAlpha: false)
            let coding = PixelCoding(format: picture.format, alphaMode: picture.alphaMode)
            let row = PixelRow(area.size.width)
            let left = (area.x - x) * picture.format.bytesPerPixel
            let share = SIMD4<Float>(1, 1, 1, Float(opacity))
            return PointWork(on: header, format: format) { [picture] pixels, line in
                guard line >= area.y, line < area.y + area.size.height, let base = pixels.baseAddress else { return }
                picture.row(line - y).withUnsafeBytes { bytes in
                    guard let first = bytes.baseAddress else { return }
                    coding.read(first + left, area.size.width, into: row.base)
                }
                for index in 0..<area.size.width { row.base[index] *= share }
                blending.blend(row.base, step: 1, over: base + area.x, count: area.size.width)
            }
        }

        private static func digest(_ picture: PixelBuffer) -> String {
            var hash = SHA256()
            for y in 0..<picture.height { hash.update(picture.row(y)) }
            return hash.finalizedHexadecimal()
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Overlay {
    /// Puts `picture` over the image.
    ///
    /// - Parameters:
    ///   - picture: In its own size.
    ///   - anchor: Where the picture lies. Default: in the middle.
    ///   - offset: Pixels by which it is moved from there. Default: none.
    ///   - mode: How its colors meet those of the image. Default: they cover them.
    ///   - opacity: From 0 to 1; processing throws `invalidParameter` for others. Default: 1.
    public static func overlay(
        _ picture: PixelBuffer, at anchor: ImageProcessors.Anchor = .center,
        offset: PixelOffset = PixelOffset(x: 0, y: 0),
        mode: ImageProcessors.BlendMode = .normal, opacity: Double = 1
    ) -> Self {
        Self(picture, at: anchor, offset: offset, mode: mode, opacity: opacity)
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
