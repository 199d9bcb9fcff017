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
    package var swapsSides: Bool { rawValue >= 5 }

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

extension PixelBuffer {
    /// The upright picture of rows that were stored in `orientation`. O(*w* × *h*); a second buffer is made unless the
    /// picture is upright already. Rows are padded: of a picture that is far wider than high one that lies on its side takes
    /// many times the memory.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory`.
    public func upright(from orientation: ImageOrientation) throws(ImageDecodingError) -> PixelBuffer {
        guard orientation != .up else { return self }
        let stored = size
        let target = orientation.swapsSides ? stored.transposed : stored
        let pixelBytes = format.bytesPerPixel
        let sourceStride = bytesPerRow
        let result = withUnsafeBytes { source in
            PixelBuffer(size: target, format: format, alphaMode: alphaMode) { memory, stride in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                // The source position depends on x and y linearly, so three of them give both steps.
                let origin = orientation.source(x: 0, y: 0, in: stored)
                let right = orientation.source(x: 1, y: 0, in: stored)
                let below = orientation.source(x: 0, y: 1, in: stored)
                let offset = { (position: (x: Int, y: Int)) in position.y * sourceStride + position.x * pixelBytes }
                let copy = TiledCopy(
                    size: target, stride: stride, across: offset(right) - offset(origin),
                    down: offset(below) - offset(origin))
                let start = from + offset(origin)
                switch pixelBytes {
                case 1: copy.run(UInt8.self, from: start, to: to)
                case 4: copy.run(UInt32.self, from: start, to: to)
                default: copy.run(UInt64.self, from: start, to: to)
                }
            }
        }
        guard let result else { throw ImageDecodingError.noMemory(for: target) }
        return result
    }
}

/// Copies pixels of a picture in tiles, so that what is read down columns is still in the cache for the next one.
private struct TiledCopy {
    private static let side = 32

    /// The size of what is written.
    let size: PixelSize
    /// Bytes from row to row of what is written.
    let stride: Int
    /// Bytes from the source of a pixel to that of its right neighbour.
    let across: Int
    /// Bytes from the source of a pixel to that of the one below.
    let down: Int

    /// - Parameters:
    ///   - type: As large as a pixel.
    ///   - source: Where the first pixel comes from.
    @inline(__always)
    func run<Pixel: BitwiseCopyable>(
        _ type: Pixel.Type, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer
    ) {
        let bytes = MemoryLayout<Pixel>.size
        for top in Swift.stride(from: 0, to: size.height, by: Self.side) {
            for left in Swift.stride(from: 0, to: size.width, by: Self.side) {
                for y in top..<min(size.height, top + Self.side) {
                    var from = source + (y &* down &+ left &* across)
                    var to = target + (y &* stride &+ left &* bytes)
                    for _ in left..<min(size.width, left + Self.side) {
                        to.storeBytes(of: from.load(as: Pixel.self), as: Pixel.self)
                        from += across
                        to += bytes
                    }
                }
            }
        }
    }
}
