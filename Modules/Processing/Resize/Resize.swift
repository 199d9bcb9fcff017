public import AlcedoCore

extension ImageProcessors {
    /// Makes an image smaller or larger.
    ///
    /// Works on every pixel format. Each axis is filtered on its own, in 32-bit floats, with colour multiplied by
    /// alpha; straight alpha stays straight, and pixels that come out wholly transparent are black. ``ResizeSampling``
    /// says how pixels are weighed.
    ///
    /// Sizes are those of the rows in memory, that is before ``DecodedImage/orientation``. Colour profile, scale,
    /// orientation, format and alpha mode are kept; of an animation every frame is resized, when it is asked for. An
    /// image that has the size already keeps its pixels. Processing throws `invalidParameter` for a target side below
    /// one, and `tooLarge` for a result that is larger than the source and than 2²⁸ pixels or 2¹⁶ a side.
    ///
    /// - Complexity: O(pixels of the source + pixels of the result × filter taps) time; besides the result, memory for
    ///   the rows that the filter needs at once.
    public struct Resize: FramewiseProcessing, Hashable {
        /// The most pixels that enlarging makes: 2²⁸, a gibibyte of RGBA.
        package static let maximumPixelCount = PixelLimits.mostPixels
        /// The longest side that enlarging makes.
        package static let maximumSide = PixelLimits.longestSide

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

        public var identifier: String {
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
        public var decodingTarget: TargetSize? {
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
}

extension ImageProcessing where Self == ImageProcessors.Resize {
    /// Gives the image this width, and the height that its proportions ask for. An image that is smaller grows only when
    /// `enlarges` is true, here and in the other forms. Default: false.
    public static func resize(
        width: Int, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(to: PixelSize(width: width, height: .max), enlarges: enlarges, sampling: sampling)
    }

    /// Gives the image this height, and the width that its proportions ask for.
    public static func resize(
        height: Int, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(to: PixelSize(width: .max, height: height), enlarges: enlarges, sampling: sampling)
    }

    /// Brings the whole image inside `size`, with its proportions kept.
    public static func resize(
        fitting size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(to: size, mode: .fit, enlarges: enlarges, sampling: sampling)
    }

    /// Makes the image cover `size`, with its proportions kept: one side may come out longer.
    public static func resize(
        filling size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(to: size, mode: .fill, enlarges: enlarges, sampling: sampling)
    }

    /// Gives the image just this size, whatever its proportions.
    public static func resize(
        exactly size: PixelSize, enlarges: Bool = false, sampling: ResizeSampling = ResizeSampling()
    ) -> Self {
        Self(to: size, mode: .exact, enlarges: enlarges, sampling: sampling)
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
