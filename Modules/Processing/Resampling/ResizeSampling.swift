/// How the pixels of a new size are made of those of the old one.
public struct ResizeSampling: Sendable, Hashable {
    /// How neighbouring pixels are weighed.
    public var filter: ResizeFilter
    /// Whether a reduction to a quarter or less begins with averages over whole numbers of pixels, which is several times
    /// as fast and within two levels of the filter alone where the picture is smooth.
    public var averagesFirst: Bool
    /// Whether pixels are weighed by the light they stand for, not by their samples, so that fine patterns keep their
    /// brightness. Samples are taken for sRGB's whatever the colour profile says. Costs about three times the time.
    public var inLinearLight: Bool

    /// By default Lanczos with three lobes on stored samples, after an average where the image becomes much smaller.
    public init(_ filter: ResizeFilter = .lanczos3, averagesFirst: Bool = true, inLinearLight: Bool = false) {
        self.filter = filter
        self.averagesFirst = averagesFirst
        self.inLinearLight = inLinearLight
    }

    /// Stable: part of cache keys.
    var identifier: String {
        filter.rawValue + (averagesFirst ? "" : ",whole") + (inLinearLight ? ",linear" : "")
    }
}
