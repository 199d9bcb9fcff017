public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Brings the image inside a width and a height, with its proportions kept. A side that is not given does not limit:
    /// `.resize(width: 320)` gives the image that width, and the height that its proportions ask for.
    ///
    /// Works on every pixel format. Each axis is filtered on its own, in 32-bit floats, with color multiplied by alpha;
    /// straight alpha stays straight, and wholly transparent pixels of the result are black.
    ///
    /// Sizes are those of the rows in memory, that is before ``/AlcedoCore/DecodedImage/orientation``. Color profile, scale,
    /// orientation, format and alpha mode are kept; of an animation every frame is resized, when it is requested. An image
    /// that has the size already keeps its pixels. Processing throws `invalidParameter` for a side below one, and `tooLarge`
    /// for a result that is larger than the source and than 2²⁸ pixels or 2¹⁶ a side.
    ///
    /// A pipeline decodes no more of the image than the result needs.
    ///
    /// - Parameters:
    ///   - width: In pixels. Default: not limited.
    ///   - height: In pixels. Default: not limited.
    ///   - enlarges: Whether an image that is smaller grows. Default: false.
    ///   - sampling: How pixels are weighed. Default: Lanczos with three lobes, after averages.
    /// - Complexity: O(pixels of the source + pixels of the result × filter taps) time; besides the result, memory for the
    ///   rows that the filter needs at once.
    public static func resize(
        width: Int = .max, height: Int = .max, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        resize(fitting: PixelSize(width: width, height: height), enlarges: enlarges, sampling: sampling)
    }

    /// Brings the whole image inside `size`, with its proportions kept; otherwise as
    /// `resize(width:height:enlarges:sampling:)`.
    public static func resize(
        fitting size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(ImageProcessors.Resize(to: size, mode: .fit, enlarges: enlarges, sampling: sampling))
    }

    /// Makes the image cover `size`, with its proportions kept: one side may come out longer. Otherwise as
    /// `resize(width:height:enlarges:sampling:)`.
    public static func resize(
        filling size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(ImageProcessors.Resize(to: size, mode: .fill, enlarges: enlarges, sampling: sampling))
    }

    /// Gives the image exactly this size, whatever its proportions. A side that is already shorter grows only when
    /// `enlarges` is true. Otherwise as `resize(width:height:enlarges:sampling:)`.
    public static func resize(
        exactly size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(ImageProcessors.Resize(to: size, mode: .exact, enlarges: enlarges, sampling: sampling))
    }
}

extension ImageProcessors {
    /// The processor of `.resize(width:height:)`, `.resize(fitting:)`, `.resize(filling:)` and `.resize(exactly:)`.
    package struct Resize: FramewiseProcessing {
        /// The most pixels that enlarging makes: 2²⁸, a gibibyte of RGBA.
        package static let maximumPixelCount = PixelLimits.maximumPixelCount
        /// The longest side that enlarging makes.
        package static let maximumSide = PixelLimits.maximumSide

        /// In pixels. A side that is `Int.max` does not limit.
        package let target: PixelSize
        /// How the image meets the size.
        package let mode: ResizeMode
        /// Whether a side may grow. When false, `exact` leaves a side that is short already as it is.
        package let enlarges: Bool
        /// How new pixels are made of old ones.
        package let sampling: ResizeSampling

        package init(
            to target: PixelSize, mode: ResizeMode = .fit, enlarges: Bool = false,
            sampling: ResizeSampling = ResizeSampling()
        ) {
            self.target = target
            self.mode = mode
            self.enlarges = enlarges
            self.sampling = sampling
        }

        package var identifier: String {
            let sides = [target.width, target.height].map { $0 == .max ? "any" : String($0) }
            return "resize:\(sides[0])x\(sides[1]),\(mode.rawValue),\(sampling.identifier)\(enlarges ? ",enlarge" : "")"
        }

        /// The size that an image of `source` gets. The source itself when a side of either is below one.
        package func resultSize(for source: PixelSize) -> PixelSize {
            guard source.isPositive, target.isPositive else { return source }
            switch mode {
            case .fit: return source.scaled(to: target, mode: .fit, enlarging: enlarges)
            case .fill: return source.scaled(to: target, mode: .fill, enlarging: enlarges)
            case .exact:
                guard !enlarges else { return target }
                return PixelSize(width: min(source.width, target.width), height: min(source.height, target.height))
            }
        }

        /// Twice the target; nil where the result would differ from that of the full size: for the filter alone, for
        /// the box filter, in linear light, and where the mode lets a side be as long as it is.
        ///
        /// Decoders average whole numbers of pixels, as the averages that a ``ResizeSampling`` begins with: the filter then
        /// finds at least twice as many pixels as the result has, on either way. The box filter counts two or three of
        /// them, where it counts every pixel of the full size, so its results would be further apart.
        package var decodingTarget: TargetSize? {
            guard target.isPositive, sampling.averagesFirst, sampling.filter != .box, !sampling.inLinearLight else {
                return nil
            }
            let limit = mode == .fit ? min(target.width, target.height) : max(target.width, target.height)
            guard limit < .max else { return nil }
            let twice = { (side: Int) in side > .max / 2 ? .max : side * 2 }
            let size = PixelSize(width: twice(target.width), height: twice(target.height))
            return TargetSize(size, mode: mode == .fit ? .fit : .fill)
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let size = try checkedSize(for: image.fullSize ?? image.size)
            guard size != image.size else { return image.still(image.pixels) }
            guard let pixels = Resampler.resample(image.pixels, extent: image.extent, to: size, sampling) else {
                throw PixelLimits.noBuffer(for: size)
            }
            return image.still(pixels)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowResizer(self, next: next) }

        /// The size that an image of `source` gets, or why there is none.
        func checkedSize(for source: PixelSize) throws(ImageProcessingError) -> PixelSize {
            guard target.isPositive else {
                throw ImageProcessingError(.invalidParameter, "cannot resize to \(target) pixels")
            }
            let size = resultSize(for: source)
            try PixelLimits.check(size, from: source)
            return size
        }
    }
}

/// How an image meets a size of other proportions.
package enum ResizeMode: String, Sendable, Hashable, CaseIterable {
    /// The whole image inside the size, proportions kept.
    case fit
    /// The size covered by the image, proportions kept; one side may come out longer.
    case fill
    /// Just the size; proportions may change.
    case exact
}

/// Resizes rows while they arrive, and hands the new ones on: the pixels are those of the whole image's result, to the bit.
///
/// Memory is O(width × filter taps).
private final class RowResizer: PixelRowConsumer {
    private let resize: ImageProcessors.Resize
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var stage: RowResizerStage?

    init(_ resize: ImageProcessors.Resize, next: any PixelRowConsumer) {
        self.resize = resize
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        var resized = header
        resized.size = try resize.checkedSize(for: header.size)
        try PixelLimits.checkRows(of: header)
        try PixelLimits.checkRows(of: resized)
        stage = resized.size == header.size ? nil : RowResizerStage(header, to: resized, sampling: resize.sampling)
        try next.begin(resized)
    }

    func consume(_ row: RawSpan) throws {
        guard let stage else { return try next.consume(row) }
        try stage.consume(row, next: next)
    }

    func finish() throws { try next.finish() }
}

/// A resampler with the memory that rows need on their way in and out.
private final class RowResizerStage {
    private var resampler: Resampler
    private let rowBytes: Int
    private let paddedBytes: Int
    private let resultBytes: Int
    /// The kernels want rows aligned and padded, which those of a stream are not.
    private let row: Scratch<UInt8>
    private let result: Scratch<UInt8>

    init(_ header: PixelRowHeader, to resized: PixelRowHeader, sampling: ResizeSampling) {
        resampler = Resampler(
            from: header.size, to: resized.size, format: header.format, alphaMode: header.alphaMode, sampling: sampling)
        rowBytes = header.bytesPerRow
        paddedBytes = Resampler.paddedRowBytes(header.size.width, header.format)
        resultBytes = resized.bytesPerRow
        row = Scratch(count: paddedBytes)
        result = Scratch(count: resultBytes)
    }

    /// Takes one row and hands on those that can be made now. Rows beyond the last are left out.
    func consume(_ bytes: RawSpan, next: any PixelRowConsumer) throws {
        guard resampler.neededRowCount > 0 else { return }
        bytes.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: row.base, count: paddedBytes)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(rowBytes)))
        }
        resampler.push(row.base, count: 1, bytesPerRow: paddedBytes)
        while resampler.pull(into: result.base) {
            try next.consume(UnsafeRawBufferPointer(start: result.base, count: resultBytes).bytes)
        }
    }
}
