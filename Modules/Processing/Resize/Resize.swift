public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Resizes the image to fit a width and a height, and keeps its aspect ratio. A side that is omitted sets no limit:
    /// `.resize(width: 320)` sets the width, and the height follows from the aspect ratio.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.resize(width: 320)])
    /// ```
    ///
    /// Each side of the result is the side of the full image times the factor, rounded to the nearest whole number and
    /// at least 1. Sizes refer to the rows in memory, before ``/AlcedoCore/DecodedImage/orientation`` is applied. An
    /// image that already has the size keeps its pixels, and every frame of an animation is resized when it is
    /// requested.
    ///
    /// Works on every pixel format. The color profile, scale, orientation, format and alpha mode are kept. Fully
    /// transparent pixels of the result are black.
    ///
    /// Processing throws `invalidParameter` for a side below 1. It throws `tooLarge` when there is no memory for the
    /// result, or when the result is larger than the source and exceeds 2²⁸ pixels or 2¹⁶ pixels on a side.
    ///
    /// - Parameters:
    ///   - width: The maximum width in pixels. Default: unlimited.
    ///   - height: The maximum height in pixels. Default: unlimited.
    ///   - enlarges: Whether smaller images are enlarged. Default: `false`.
    ///   - sampling: The filter and its options. Default: Lanczos with three lobes.
    /// - Complexity: O(pixels of the source + pixels of the result × filter taps) time. In addition to the result,
    ///   memory for the rows that the filter needs at the same time.
    public static func resize(
        width: Int = .max, height: Int = .max, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        resize(fitting: PixelSize(width: width, height: height), enlarges: enlarges, sampling: sampling)
    }

    /// Resizes the whole image to fit inside `size`, and keeps its aspect ratio. Otherwise behaves like
    /// `resize(width:height:enlarges:sampling:)`.
    public static func resize(
        fitting size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(ImageProcessors.Resize(to: size, mode: .fit, enlarges: enlarges, sampling: sampling))
    }

    /// Resizes the image to cover `size`, and keeps its aspect ratio. One side of the result may be longer than in
    /// `size`. Otherwise behaves like `resize(width:height:enlarges:sampling:)`.
    public static func resize(
        filling size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(ImageProcessors.Resize(to: size, mode: .fill, enlarges: enlarges, sampling: sampling))
    }

    /// Resizes the image to exactly this size without keeping its aspect ratio. A side that is already shorter grows
    /// only when `enlarges` is `true`. Otherwise behaves like `resize(width:height:enlarges:sampling:)`.
    public static func resize(
        exactly size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(ImageProcessors.Resize(to: size, mode: .exact, enlarges: enlarges, sampling: sampling))
    }

    /// Resizes and crops the image to exactly this size, and keeps the aspect ratio of what it shows: the largest part
    /// of the image with the aspect ratio of `size`.
    ///
    /// ```swift
    /// let square = PixelSize(width: 320, height: 320)
    /// let request = ImageRequest(url: url, processors: [.resize(covering: square, at: .top)])
    /// ```
    ///
    /// Only the part is filtered. It is positioned exactly, also between two pixels, unless no pixel is scaled. A side
    /// that is already shorter grows only when `enlarges` is `true`. Otherwise behaves like
    /// `resize(width:height:enlarges:sampling:)`, and throws `invalidParameter` for an invalid anchor.
    ///
    /// - Parameters:
    ///   - size: The size of the result in pixels.
    ///   - anchor: The position of the part in the image. With `.smart`, the whole image is resized within the limits,
    ///     and then cropped at whole pixels. Default: `.center`.
    ///   - enlarges: Whether smaller images are enlarged. Default: `false`.
    ///   - sampling: The filter and its options. Default: Lanczos with three lobes.
    public static func resize(
        covering size: PixelSize, at anchor: ImageProcessors.Anchor = .center, enlarges: Bool = false,
        sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        guard anchor == .smart else {
            return Self(
                ImageProcessors.Resize(to: size, mode: .cover, at: anchor, enlarges: enlarges, sampling: sampling))
        }
        // The most salient part is found in the smallest image that contains it.
        return composition([
            ImageProcessors.Resize(to: size, mode: .fill, enlarges: enlarges, sampling: sampling),
            ImageProcessors.Crop(to: size, at: anchor),
        ])
    }

    /// Resizes the whole image to fit inside `size`, keeps its aspect ratio, and fills the rest of `size` with a
    /// background.
    ///
    /// ```swift
    /// let square = PixelSize(width: 320, height: 320)
    /// let request = ImageRequest(url: url, processors: [.resize(containedIn: square, background: .white)])
    /// ```
    ///
    /// The result has exactly this size. Transparent pixels of the image stay transparent; `.flatten(onto:)` puts them
    /// on the background too. Equals `.resize(fitting:)` followed by `.extend(to:at:with:)`, whose errors it throws.
    ///
    /// - Parameters:
    ///   - size: The size of the result in pixels.
    ///   - anchor: The position of the image in the result. Default: `.center`.
    ///   - background: The color around the image. Default: transparent.
    ///   - enlarges: Whether smaller images are enlarged. Default: `false`.
    ///   - sampling: The filter and its options. Default: Lanczos with three lobes.
    public static func resize(
        containedIn size: PixelSize, at anchor: ImageProcessors.Anchor = .center, background: PixelColor = .clear,
        enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        composition([
            ImageProcessors.Resize(to: size, enlarges: enlarges, sampling: sampling),
            ImageProcessors.Extend(to: size, at: anchor, with: .color(background)),
        ])
    }
}

extension ImageProcessors {
    /// The processor of `.resize(width:height:)`, `.resize(fitting:)`, `.resize(filling:)`, `.resize(exactly:)` and
    /// `.resize(covering:)`.
    package struct Resize: FramewiseProcessing {
        /// The maximum number of pixels of an enlarged image: 2²⁸, which is 1 GiB in RGBA.
        package static let maximumPixelCount = PixelLimits.maximumPixelCount
        /// The maximum length of a side of an enlarged image.
        package static let maximumSide = PixelLimits.maximumSide

        /// The target size in pixels. A side of `Int.max` sets no limit.
        package let target: PixelSize
        /// The rule that relates the image to the target size.
        package let mode: ResizeMode
        /// The position of the part that the mode `cover` shows. Other modes ignore it.
        package let anchor: Anchor
        /// Whether a side may grow. When `false`, the mode `exact` keeps a side that is already shorter.
        package let enlarges: Bool
        /// The filter and its options.
        package let sampling: ResizeSampling
        /// Whether samples that lie partly outside of the part of a reduced image count by their share inside.
        var isPart = false

        package init(
            to target: PixelSize, mode: ResizeMode = .fit, at anchor: Anchor = .center, enlarges: Bool = false,
            sampling: ResizeSampling = ResizeSampling()
        ) {
            self.target = target
            self.mode = mode
            self.anchor = anchor
            self.enlarges = enlarges
            self.sampling = sampling
        }

        /// The beginning of identifiers. The number changes when the pixels of the result change.
        static let name = "resize3"

        package var identifier: String {
            let sides = [target.width, target.height].map { $0 == .max ? "any" : String($0) }
            let position = mode == .cover && !anchor.isCenter ? ",\(anchor.identifier)" : ""
            let options = "\(mode.rawValue)\(position),\(sampling.identifier)\(enlarges ? ",enlarge" : "")"
            return "\(Self.name):\(sides[0])x\(sides[1]),\(options)"
        }

        /// Returns the size of the result for an image of size `source`. Returns `source` when a side of either size is
        /// below 1.
        package func resultSize(for source: PixelSize) -> PixelSize {
            guard source.isPositive, target.isPositive else { return source }
            switch mode {
            case .fit: return source.scaled(to: target, mode: .fit, enlarging: enlarges)
            case .fill: return source.scaled(to: target, mode: .fill, enlarging: enlarges)
            case .exact, .cover:
                guard !enlarges else { return target }
                return PixelSize(width: min(source.width, target.width), height: min(source.height, target.height))
            }
        }

        /// Twice the target size, or `nil` when the image must be decoded at full size.
        ///
        /// A decoder that scales in the frequency domain or draws removes what a smaller image cannot show. At twice
        /// the target size, the filter's result differs from that of the full image by less than 1 in most pixels. For
        /// text, JPEG decodes at least twice this size. The full size is needed in linear light, because decoders scale
        /// stored samples, and with the box filter, which would use two or three samples instead of every full-size
        /// pixel. The full size is also needed when the target does not limit the size.
        package var decodingTarget: TargetSize? {
            guard target.isPositive, sampling.filter != .box, !sampling.inLinearLight else { return nil }
            let limit = mode == .fit ? min(target.width, target.height) : max(target.width, target.height)
            guard limit < .max else { return nil }
            let twice = { (side: Int) in side > .max / 2 ? .max : side * 2 }
            let size = PixelSize(width: twice(target.width), height: twice(target.height))
            return TargetSize(size, mode: mode == .fit ? .fit : .fill)
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            guard let plan = try plan(for: image.rowHeader) else { return image.still(image.pixels) }
            guard let pixels = plan.resample(image.pixels) else { throw PixelLimits.noBuffer(for: plan.size) }
            return image.still(pixels)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowResizer(self, next: next) }

        /// Returns the plan for rows, or nil when they already are the result.
        ///
        /// - Throws: `invalidParameter` when a side of the target is below 1, and `tooLarge` when the result exceeds
        ///   the limits and is larger than the source, or when the filter needs too much memory.
        func plan(for header: PixelRowHeader) throws(ImageProcessingError) -> ResamplingPlan? {
            let plan = try uncheckedPlan(for: header)
            if let plan { try PixelLimits.checkFilter(of: plan.source, byteCount: plan.byteCount) }
            return plan
        }

        /// Returns the plan for rows, as ``plan(for:)`` does, but also if the filter needs too much memory.
        fileprivate func uncheckedPlan(for header: PixelRowHeader) throws(ImageProcessingError) -> ResamplingPlan? {
            let full = header.reduction?.fullSize ?? header.size
            let result = try checkedSize(for: full)
            let part = try mode == .cover ? SampleRegion(of: full, covering: result, at: anchor) : nil
            let region = SampleRegion(part, of: header.size, header.reduction)
            guard result != header.size || region != SampleRegion(of: header.size) else { return nil }
            return ResamplingPlan(
                from: header.size, region: region,
                covered: isPart ? header.reduction.map { SampleRegion(nil, of: header.size, $0) } : nil, to: result,
                format: header.format, alphaMode: header.alphaMode, sampling: sampling)
        }

        /// Returns the size of the result for an image of size `source`. Throws `invalidParameter` when a side of the
        /// target is below 1, and `tooLarge` when the result exceeds the limits and is larger than the source.
        func checkedSize(for source: PixelSize) throws(ImageProcessingError) -> PixelSize {
            guard target.isPositive else {
                throw ImageProcessingError(.invalidParameter, "invalid target size: \(target) pixels")
            }
            let size = resultSize(for: source)
            try PixelLimits.check(size, from: source)
            return size
        }
    }
}

/// The rule that relates an image to a target size with another aspect ratio.
package enum ResizeMode: String, Sendable, Hashable, CaseIterable {
    /// Fits the whole image inside the size and keeps its aspect ratio.
    case fit
    /// Covers the size with the image and keeps its aspect ratio. One side of the result may be longer.
    case fill
    /// Uses exactly the size. The aspect ratio may change.
    case exact
    /// Uses exactly the size, and shows the largest part with its aspect ratio.
    case cover
}

/// A consumer that resizes rows as they arrive. The pixels are bit-identical to those of resizing the whole image.
///
/// Memory is O(width × filter taps).
private final class RowResizer: PixelRowConsumer {
    private let resize: ImageProcessors.Resize
    private let next: any PixelRowConsumer
    /// The resampler and its result row, or `nil` when rows are forwarded unchanged.
    private var stage: (resampler: any Resampling, rowBytes: Int, result: RowMemory)?

    init(_ resize: ImageProcessors.Resize, next: any PixelRowConsumer) {
        self.resize = resize
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        var resized = header
        resized.reduction = nil
        let plan = try resize.plan(for: header)
        if let plan { resized.size = plan.size }
        try PixelLimits.checkRows(of: resized)
        stage = plan.map { ($0.makeResampler(), header.bytesPerRow, RowMemory(byteCount: resized.bytesPerRow)) }
        try next.begin(resized)
    }

    /// Takes one row and forwards the result rows that are complete. Rows after the last one are ignored.
    func consume(_ row: RawSpan) throws {
        guard let (resampler, rowBytes, result) = stage else { return try next.consume(row) }
        guard resampler.needsRow else { return }
        try row.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count >= rowBytes else {
                throw ImageDecodingError(.corrupt, "a row has \(bytes.count) bytes instead of \(rowBytes)")
            }
            resampler.push(base)
        }
        while resampler.pull(into: result.base) { try next.consume(result.buffer.bytes) }
    }

    func finish() throws { try next.finish() }

    /// Returns the bytes of the filter and of a result row. An invalid size is an error when the rows begin.
    func byteCount(for header: PixelRowHeader) -> Int {
        var resized = header
        resized.reduction = nil
        guard let plan = try? resize.uncheckedPlan(for: header) else { return next.byteCount(for: resized) }
        resized.size = plan.size
        let filter = Int(exactly: plan.byteCount.rounded(.up)) ?? .max
        return filter.addingClamped(resized.bytesPerRow).addingClamped(next.byteCount(for: resized))
    }
}
