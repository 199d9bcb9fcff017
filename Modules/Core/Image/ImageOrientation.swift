/// How stored rows relate to the upright picture. Raw values are those of the EXIF tag 0x0112.
///
/// Source: CIPA DC-008 (Exif 2.32), section 4.6.4, "Orientation".
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    case up = 1
    case upMirrored = 2
    case down = 3
    case downMirrored = 4
    case leftMirrored = 5
    case right = 6
    case rightMirrored = 7
    case left = 8

    /// Whether making the picture upright exchanges its sides.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The position in the stored picture of a pixel of the upright one. `size` is the stored size.
    func source(x: Int, y: Int, in size: PixelSize) -> (x: Int, y: Int) {
        let (right, bottom) = (size.width - 1, size.height - 1)
        return switch self {
        case .up: (x, y)
        case .upMirrored: (right - x, y)
        case .down: (right - x, bottom - y)
        case .downMirrored: (x, bottom - y)
        case .leftMirrored: (y, x)
        case .right: (y, bottom - x)
        case .rightMirrored: (right - y, bottom - x)
        case .left: (right - y, x)
        }
    }
}
