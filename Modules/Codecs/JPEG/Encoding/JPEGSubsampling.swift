/// How many chrominance samples a JPEG keeps. Source: ITU-T T.81, section A.1.1.
public enum JPEGSubsampling: String, Sendable, Hashable, CaseIterable {
    /// 4:4:4, one for every pixel.
    case none
    /// 4:2:2, one for two pixels side by side.
    case horizontal
    /// 4:4:0, one for two pixels above one another.
    case vertical
    /// 4:2:0, one for four pixels.
    case both

    /// Luminance samples for each of chrominance.
    var factors: (horizontal: Int32, vertical: Int32) {
        switch self {
        case .none: (1, 1)
        case .horizontal: (2, 1)
        case .vertical: (1, 2)
        case .both: (2, 2)
        }
    }
}
