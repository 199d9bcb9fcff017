public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Crops the image to the part of a rectangle that lies inside the image.
    ///
    /// Works on every pixel format and on every frame of an animation. Positions and sizes refer to the rows in memory,
    /// before ``/AlcedoCore/DecodedImage/orientation`` is applied. The color profile, scale, orientation, format and
    /// alpha mode are kept. Processing throws `invalidParameter` when a side is shorter than one pixel or the rectangle
    /// lies outside the image, and `tooLarge` when there is no memory for the result.
    ///
    /// - Parameters:
    ///   - x: The left edge in pixels. The rectangle may begin outside the image.
    ///   - y: The top edge in pixels.
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    /// - Complexity: O(pixels of the result). No rows are kept.
    public static func crop(x: Int, y: Int, width: Int, height: Int) -> Self {
        Self(ImageProcessors.Crop(PixelRect(x: x, y: y, width: width, height: height)))
    }

    /// Crops the image to at most `size` pixels at the position of `anchor`. Otherwise behaves like
    /// `crop(x:y:width:height:)`.
    ///
    /// The origin of the result is rounded to the left and up: a centered crop that removes an odd number of pixels
    /// removes one more at the right or the bottom. Processing throws `invalidParameter` when a side of `size` is
    /// shorter than one pixel, or when `anchor` is invalid.
    ///
    /// - Parameters:
    ///   - size: The maximum size of the result in pixels.
    ///   - anchor: The position of the result in the image. With `.smart`, arriving rows are collected into a whole
    ///     image. Default: `.center`.
    public static func crop(to size: PixelSize, at anchor: ImageProcessors.Anchor = .center) -> Self {
        Self(ImageProcessors.Crop(to: size, at: anchor))
    }

    /// Crops the image to the largest part with the aspect ratio of `aspect`, for example 16 × 9. Otherwise behaves
    /// like `crop(x:y:width:height:)`.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.crop(aspect: PixelSize(width: 16, height: 9), at: .top)])
    /// ```
    ///
    /// Sides are rounded to whole pixels and are at least one pixel long. Processing throws `invalidParameter` when a
    /// side of `aspect` is below 1, or when `anchor` is invalid.
    ///
    /// - Parameters:
    ///   - aspect: The aspect ratio of the result.
    ///   - anchor: The position of the result in the image. With `.smart`, arriving rows are collected into a whole
    ///     image. Default: `.center`.
    public static func crop(aspect: PixelSize, at anchor: ImageProcessors.Anchor = .center) -> Self {
        Self(ImageProcessors.Crop(aspect: aspect, at: anchor))
    }
}

extension ImageProcessors {
    /// The processor of `.crop(x:y:width:height:)`, `.crop(to:at:)` and `.crop(aspect:at:)`.
    package struct Crop: FramewiseProcessing {
        private enum Region: Hashable {
            case rect(PixelRect)
            case size(PixelSize, Anchor)
            case aspect(PixelSize, Anchor)

            func placed(at anchor: Anchor) -> Self {
                switch self {
                case .rect: self
                case .size(let size, _): .size(size, anchor)
                case .aspect(let aspect, _): .aspect(aspect, anchor)
                }
            }
        }

        private var region: Region

        package init(_ rect: PixelRect) { region = .rect(rect) }

        package init(to size: PixelSize, at anchor: Anchor = .center) { region = .size(size, anchor) }

        package init(aspect: PixelSize, at anchor: Anchor = .center) { region = .aspect(aspect, anchor) }

        package var identifier: String {
            let position = { (anchor: Anchor) in anchor.isCenter ? "centre" : anchor.identifier }
            return switch region {
            case .rect(let rect): "crop:\(rect)"
            case .size(let size, let anchor): "crop:\(position(anchor)),\(size.width)x\(size.height)"
            case .aspect(let aspect, let anchor): "crop:\(position(anchor)),\(aspect.width):\(aspect.height)"
            }
        }

        /// Whether the pixels determine the position.
        var isSmart: Bool {
            switch region {
            case .rect: false
            case .size(_, let anchor), .aspect(_, let anchor): anchor == .smart
            }
        }

        /// Returns the cropped image. Frames of an animation that are cropped at the most salient part have the part of
        /// the first one, so that the contents do not jump.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            guard isSmart else {
                return try image.processingFrames { still throws(ImageProcessingError) in try processed(still) }
            }
            return try placed(for: image.pixels).process(image)
        }

        /// Returns a crop to the most salient part of an image.
        private func placed(for pixels: PixelBuffer) throws(ImageProcessingError) -> Self {
            var crop = self
            crop.region = region.placed(at: .center)
            let part = try crop.rect(in: pixels.size).size
            guard part != pixels.size else { return crop }
            crop.region = region.placed(at: try Saliency(of: pixels).anchor(of: part, in: pixels.size))
            return crop
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let part = try rect(in: image.size)
            guard part.size != image.size else { return image }
            return image.still(try Self.copy(part, of: image.pixels))
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            guard !isSmart else { return WholeImageStage(next: next) { try process($0) } }
            return RowCropper(next: next) { header throws(ImageProcessingError) in
                let part = try rect(in: header.size)
                return (part, part.size == header.size ? header.reduction : nil)
            }
        }

        /// Returns the rectangle to keep of an image of size `bounds`. Throws `invalidParameter` for an invalid
        /// rectangle, size, aspect ratio or anchor, and for a rectangle outside the image.
        func rect(in bounds: PixelSize) throws(ImageProcessingError) -> PixelRect {
            switch region {
            case .rect(let rect):
                guard rect.size.isPositive else {
                    throw ImageProcessingError(.invalidParameter, "invalid crop size: \(rect.size) pixels")
                }
                guard let part = rect.clipped(to: bounds) else {
                    throw ImageProcessingError(
                        .invalidParameter, "crop rectangle \(rect) lies outside the image of \(bounds) pixels")
                }
                return part
            case .size(let size, let anchor):
                guard size.isPositive else {
                    throw ImageProcessingError(.invalidParameter, "invalid crop size: \(size) pixels")
                }
                return try Self.part(
                    width: min(size.width, bounds.width), height: min(size.height, bounds.height), of: bounds, anchor)
            case .aspect(let aspect, let anchor):
                guard aspect.isPositive else {
                    throw ImageProcessingError(.invalidParameter, "invalid aspect ratio: \(aspect)")
                }
                // Clamped before the conversion, because the quotient of two extreme sides can make the product exceed
                // `Int.max`.
                let side = { (length: Int, over: Int, under: Int, limit: Int) in
                    max(1, Int(min((Double(length) * (Double(over) / Double(under))).rounded(), Double(limit))))
                }
                return try Self.part(
                    width: side(bounds.height, aspect.width, aspect.height, bounds.width),
                    height: side(bounds.width, aspect.height, aspect.width, bounds.height), of: bounds, anchor)
            }
        }

        private static func part(
            width: Int, height: Int, of bounds: PixelSize, _ anchor: Anchor
        ) throws(ImageProcessingError) -> PixelRect {
            let origin = try anchor.origin(of: PixelSize(width: width, height: height), in: bounds)
            return PixelRect(x: origin.x, y: origin.y, width: width, height: height)
        }

        static func copy(_ part: PixelRect, of pixels: PixelBuffer) throws(ImageProcessingError) -> PixelBuffer {
            let pixelBytes = pixels.format.bytesPerPixel
            let result = pixels.withUnsafeBytes { source in
                PixelBuffer(size: part.size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, stride in
                    guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                    for y in 0..<part.size.height {
                        (to + y * stride).copyMemory(
                            from: from + (part.y + y) * pixels.bytesPerRow + part.x * pixelBytes,
                            byteCount: part.size.width * pixelBytes)
                    }
                }
            }
            guard let result else { throw PixelLimits.noBuffer(for: part.size) }
            return result
        }
    }
}

/// A consumer that forwards the part of the arriving rows that a crop keeps.
final class RowCropper: PixelRowConsumer {
    /// The part of the rows of an image to keep, and its position in the full result of the crop.
    typealias Part = (rect: PixelRect, reduction: ImageReduction?)

    private let part: (PixelRowHeader) throws(ImageProcessingError) -> Part
    private let next: any PixelRowConsumer
    private var rows = 0..<0
    private var bytes = 0..<0
    private var y = 0

    /// Creates a consumer. `part` receives the header of the rows and returns the part to keep.
    init(next: any PixelRowConsumer, _ part: @escaping (PixelRowHeader) throws(ImageProcessingError) -> Part) {
        self.part = part
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        let (part, reduction) = try part(header)
        try PixelLimits.checkRows(of: header)
        let pixelBytes = header.format.bytesPerPixel
        rows = part.y..<part.y + part.size.height
        bytes = part.x * pixelBytes..<(part.x + part.size.width) * pixelBytes
        y = 0
        var cropped = header
        (cropped.size, cropped.reduction) = (part.size, reduction)
        try next.begin(cropped)
    }

    func consume(_ row: RawSpan) throws {
        defer { y += 1 }
        guard rows.contains(y) else { return }
        try next.consume(row.extracting(bytes))
    }

    func finish() throws { try next.finish() }

    func byteCount(for header: PixelRowHeader) -> Int {
        var cropped = header
        // An invalid part is an error when the rows begin.
        if let part = try? part(header) { (cropped.size, cropped.reduction) = (part.rect.size, part.reduction) }
        return next.byteCount(for: cropped)
    }
}
