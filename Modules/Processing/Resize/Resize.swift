public import AlcedoCore

/// Makes an image smaller or larger.
///
/// Works on every pixel format. Each axis is filtered on its own, in 32-bit floats, with colour multiplied by alpha;
/// straight alpha stays straight, and pixels that come out wholly transparent are black. An axis that shrinks to a
/// quarter or less is first averaged over whole numbers of pixels, to no less than twice its target length. Samples are
/// weighed as they are stored, as browsers do, not in linear light.
///
/// Sizes are those of the rows in memory, that is before ``DecodedImage/orientation``. Colour profile, scale,
/// orientation, format and alpha mode are kept; of an animation the first frame remains. An image that has the size
/// already keeps its pixels.
///
/// - Complexity: O(pixels of the source + pixels of the result × filter taps) time; besides the result, memory for the
///   rows that the filter needs at once.
public struct Resize: ImageProcessing, Hashable {
    /// The most pixels that enlarging makes: 2²⁸, a gibibyte of RGBA.
    public static let maximumPixelCount = 1 << 28
    /// The longest side that enlarging makes.
    public static let maximumSide = 1 << 16

    public let target: PixelSize
    public let mode: ResizeMode
    /// Whether a side may grow. When false, `exact` leaves a side that is short already as it is.
    public let enlarges: Bool
    public let filter: ResizeFilter

    /// - Parameters:
    ///   - target: In pixels; ``process(_:)`` throws `invalidParameter` when a side is below one.
    ///   - mode: What to do when the proportions differ.
    ///   - enlarges: Whether an image smaller than `target` grows.
    ///   - filter: How pixels are weighed.
    public init(
        to target: PixelSize, mode: ResizeMode = .fit, enlarges: Bool = false, filter: ResizeFilter = .lanczos3
    ) {
        self.target = target
        self.mode = mode
        self.enlarges = enlarges
        self.filter = filter
    }

    public var identifier: String {
        let size = "\(target.width)x\(target.height)"
        return "resize:\(size),\(mode.rawValue),\(filter.rawValue)\(enlarges ? ",enlarge" : "")"
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
        guard let pixels = Resampler.resample(image.pixels, to: size, filter: filter) else {
            throw ImageProcessingError(.tooLarge, "no buffer holds \(size) pixels")
        }
        return image.still(pixels)
    }

    /// The size that an image of `source` gets, or why there is none.
    func checkedSize(for source: PixelSize) throws(ImageProcessingError) -> PixelSize {
        guard target.isPositive else {
            throw ImageProcessingError(.invalidParameter, "cannot resize to \(target) pixels")
        }
        let size = resultSize(for: source)
        guard size != source else { return source }
        guard size.pixelCount <= max(Self.maximumPixelCount, source.pixelCount),
            size.width <= max(Self.maximumSide, source.width), size.height <= max(Self.maximumSide, source.height)
        else {
            throw ImageProcessingError(.tooLarge, "a result of \(size) pixels is too large")
        }
        return size
    }
}
