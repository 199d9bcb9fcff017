/// How stored rows relate to the upright picture. Raw values are those of the EXIF tag 0x0112.
///
/// Source: CIPA DC-008 (Exif 2.32), section 4.6.4, "Orientation".
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// The first row is the top, its first pixel the left one.
    case up = 1
    /// Mirrored: left and right are exchanged.
    case upMirrored = 2
    /// Turned by 180 degrees.
    case down = 3
    /// Mirrored: top and bottom are exchanged.
    case downMirrored = 4
    /// Rows are columns: the first row is the left side, from the top down.
    case leftMirrored = 5
    /// The first row is the right side, from the top down; turning clockwise by 90 degrees makes it upright.
    case right = 6
    /// The first row is the right side, from the bottom up.
    case rightMirrored = 7
    /// The first row is the left side, from the bottom up; turning anticlockwise by 90 degrees makes it upright.
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
