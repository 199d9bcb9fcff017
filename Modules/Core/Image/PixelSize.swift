/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size in pixels. Any values are accepted; functions that take a size reject invalid ones.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The width and the height, for messages.
    public var description: String { "\(width) x \(height)" }

    /// Whether both sides are at least one pixel.
    package var isPositive: Bool { width > 0 && height > 0 }

    /// The number of pixels. `Int.max` when the product overflows, zero when a side is not positive.
    public var pixelCount: Int {
        guard isPositive else { return 0 }
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? Int.max : product
    }

    /// Returns the memory of an encoder that holds a number of bytes for each pixel and up to a mebibyte of tables. At
    /// most `Int.max / 4`, so that a few such numbers can be added.
    package func encodingByteCount(perPixel count: Int) -> Int {
        let (product, overflow) = pixelCount.multipliedReportingOverflow(by: count)
        return overflow || product > Int.max / 4 ? Int.max / 4 : product + (1 << 20)
    }

    /// Returns the memory of an encoder of an animation for its frames, in addition to that for the first: eight
    /// canvases, and a number of bytes for each pixel of each further frame: the encoded frames, and the file. Zero for
    /// a still image.
    package func framesByteCount(format: PixelFormat, frameCount: Int, perPixel count: Int) -> Int {
        guard frameCount > 1 else { return 0 }
        let perPixel = 8 * format.bytesPerPixel + count * (min(frameCount, 1 << 32) - 1)
        let (product, overflow) = pixelCount.multipliedReportingOverflow(by: perPixel)
        return overflow ? .max : product
    }

    /// The size with width and height exchanged, as after a rotation by 90 degrees.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }
}

extension Int {
    /// Returns the sum of two numbers of bytes, or `Int.max` if it overflows.
    package func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
