/// The orientation of stored rows relative to the upright image. The raw values are those of the EXIF tag 0x0112.
///
/// Source: CIPA DC-008 (Exif 2.32), section 4.6.4, "Orientation".
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// The first row is the top, and its first pixel is the left one.
    case up = 1
    /// Mirrored horizontally: left and right are exchanged.
    case upMirrored = 2
    /// Rotated by 180 degrees.
    case down = 3
    /// Mirrored vertically: top and bottom are exchanged.
    case downMirrored = 4
    /// The first row is the left side, from top to bottom. Rows and columns are exchanged.
    case leftMirrored = 5
    /// The first row is the right side, from top to bottom. A clockwise rotation by 90 degrees makes the image upright.
    case right = 6
    /// The first row is the right side, from bottom to top.
    case rightMirrored = 7
    /// The first row is the left side, from bottom to top. A counterclockwise rotation by 90 degrees makes the image
    /// upright.
    case left = 8

    /// Whether making the image upright exchanges width and height.
    package var swapsSides: Bool { rawValue >= 5 }

    /// Returns the position in the stored image of a pixel of the upright image. `size` is the stored size.
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
    /// Returns the upright image of rows that were stored in `orientation`. O(*w* × *h*); O(1) for `.up`.
    ///
    /// Allocates a second buffer unless the orientation is `.up`. Because each row is padded to a multiple of 64 bytes,
    /// rotating a very wide and low image by 90 degrees can take many times the memory of the original.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory` when the second buffer cannot be allocated.
    public func upright(from orientation: ImageOrientation) throws(ImageDecodingError) -> PixelBuffer {
        guard orientation != .up else { return self }
        let stored = size
        let target = orientation.swapsSides ? stored.transposed : stored
        let pixelBytes = format.bytesPerPixel
        let sourceStride = bytesPerRow
        let result = withUnsafeBytes { source in
            PixelBuffer(size: target, format: format, alphaMode: alphaMode) { memory, stride in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                // The source position is linear in x and y, so three positions determine both steps.
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
                case 2: copy.run(UInt16.self, from: start, to: to)
                case 4: copy.run(UInt32.self, from: start, to: to)
                default: copy.run(UInt64.self, from: start, to: to)
                }
            }
        }
        guard let result else { throw ImageDecodingError.noMemory(for: target) }
        return result
    }
}

/// A copy of pixels in square tiles. Tiles keep source columns in the CPU cache while neighboring columns are copied.
private struct TiledCopy {
    private static let side = 32

    /// The size of the target image.
    let size: PixelSize
    /// The number of bytes from one target row to the next.
    let stride: Int
    /// The number of bytes from the source of a pixel to the source of its right neighbor.
    let across: Int
    /// The number of bytes from the source of a pixel to the source of the pixel below.
    let down: Int

    /// Copies all pixels.
    ///
    /// - Parameters:
    ///   - type: An integer type with the size of a pixel.
    ///   - source: The source of the first target pixel.
    ///   - target: The first target pixel.
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
