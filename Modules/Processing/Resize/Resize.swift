public import AlcedoCore

/// Makes an image smaller or larger.
///
/// Works on every pixel format. Each axis is filtered on its own, in 32-bit floats, with colour multiplied by alpha;
/// straight alpha stays straight, and pixels that come out wholly transparent are black. ``ResizeSampling`` says how
/// pixels are weighed.
///
/// Sizes are those of the rows in memory, that is before ``DecodedImage/orientation``. Colour profile, scale,
/// orientation, format and alpha mode are kept; of an animation the first frame remains. An image that has the size
/// already keeps its pixels.
///
/// - Complexity: O(pixels of the source + pixels of the result × filter taps) time; besides the result, memory for the
///   rows that the filter needs at once.
public struct Resize: ImageProcessing, Hashable {
    /// The most pixels that enlarging makes: 2²⁸, a gibibyte of RGBA.
    public static let maximumPixelCount = PixelLimits.mostPixels
    /// The longest side that enlarging makes.
    public static let maximumSide = PixelLimits.longestSide

    /// A side that is `Int.max` does not limit: see ``init(width:enlarges:sampling:)``.
    public let target: PixelSize
    /// How the image meets the size.
    public let mode: ResizeMode
    /// Whether a side may grow. When false, `exact` leaves a side that is short already as it is.
    public let enlarges: Bool
    /// How new pixels are made of old ones.
    public let sampling: ResizeSampling

    /// - Parameters:
    ///   - target: In pixels; ``process(_:)`` throws `invalidParameter` when a side is below one.
    ///   - mode: What to do when the proportions differ.
    ///   - enlarges: Whether an image smaller than `target` grows.
    ///   - sampling: How pixels are weighed.
    public init(to target: PixelSize, mode: ResizeMode = .fit, enlarges: Bool = false, sampling: ResizeSampling) {
        self.target = target
        self.mode = mode
        self.enlarges = enlarges
        self.sampling = sampling
    }

    /// The same with a filter and nothing else said of the sampling.
    public init(
        to target: PixelSize, mode: ResizeMode = .fit, enlarges: Bool = false, filter: ResizeFilter = .lanczos3
    ) {
        self.init(to: target, mode: mode, enlarges: enlarges, sampling: ResizeSampling(filter))
    }

    /// Gives the image this width, and the height that its proportions ask for.
    public init(width: Int, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()) {
        self.init(to: PixelSize(width: width, height: .max), enlarges: enlarges, sampling: sampling)
    }

    /// Gives the image this height, and the width that its proportions ask for.
    public init(height: Int, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()) {
        self.init(to: PixelSize(width: .max, height: height), enlarges: enlarges, sampling: sampling)
    }

    public var identifier: String {
        let sides = [target.width, target.height].map { $0 == .max ? "any" : String($0) }
        return "resize:\(sides[0])x\(sides[1]),\(mode.rawValue),\(sampling.identifier)\(enlarges ? ",enlarge" : "")"
    }

    /// The size that an image of `source` gets. The source itself when a side of either is below one.
    public func resultSize(for source: PixelSize) -> PixelSize {
        guard source.isPositive, target.isPositive else { return source }
        switch mode {
        case .fit: return source.scaled(to: target, mode: .fit, enlarging: enlarges)
        case .fill: return source.scaled(to: target, mode: .fill, enlarging: enlarges)
        case .exact:
            guard !enlarges else { return target }
            return PixelSize(width: min(source.width, target.width), height: min(source.height, target.height))
        }
    }

    /// - Throws: `invalidParameter` for a target side below one; `tooLarge` for a result that is larger than the source
    ///   and larger than ``maximumPixelCount`` and ``maximumSide`` allow.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        let size = try checkedSize(for: image.size)
        guard size != image.size else { return image.still(image.pixels) }
        guard let pixels = Resampler.resample(image.pixels, to: size, sampling) else {
            throw ImageProcessingError(.tooLarge, "no buffer holds \(size) pixels")
        }
        return image.still(pixels)
    }

    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowResizer(self, next: next) }

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
