/// The position of the samples of a reduced image in the full image.
///
/// ```swift
/// // A JPEG of 69 x 40 pixels at a quarter of its size has 18 x 10 samples, of which the last column lies partly
/// // outside of the image.
/// let reduction = ImageReduction(of: PixelSize(width: 69, height: 40), width: 69.0 / 4, height: 40.0 / 4)
/// ```
///
/// A decoder that reduces an image while it decodes sets ``DecodedImage/reduction`` and ``PixelRowHeader/reduction``.
/// The sides of a reduced image are rounded to whole samples, so their quotient with the full size is not the exact
/// scale. A resize that took it for the scale would shift the image by up to a sample.
public struct ImageReduction: Sendable, Hashable {
    /// The size of the full image in pixels, in the orientation of the samples.
    public var fullSize: PixelSize
    /// The left edge of the full image, in samples. Default: 0. It is between 0 and 1 if an
    /// incomplete sample is on the left, as after mirroring.
    public var x: Double
    /// The top edge of the full image, in samples. Default: 0.
    public var y: Double
    /// The width of the full image, in samples.
    public var width: Double
    /// The height of the full image, in samples.
    public var height: Double

    /// Creates the position of samples.
    ///
    /// - Parameters:
    ///   - fullSize: The size of the full image in pixels.
    ///   - x: The left edge of the full image, in samples. Default: 0.
    ///   - y: The top edge of the full image, in samples. Default: 0.
    ///   - width: The width of the full image, in samples.
    ///   - height: The height of the full image, in samples.
    public init(of fullSize: PixelSize, x: Double = 0, y: Double = 0, width: Double, height: Double) {
        self.fullSize = fullSize
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates the position of samples that cover the full image exactly.
    package init(of fullSize: PixelSize, exactly size: PixelSize) {
        self.init(of: fullSize, width: Double(size.width), height: Double(size.height))
    }

    /// Whether the full image is inside of samples of size `size`. A decoder in another process may have computed the
    /// position.
    package func fits(_ size: PixelSize) -> Bool {
        func fits(_ start: Double, _ length: Double, _ count: Int) -> Bool {
            start >= 0 && length > 0 && start + length <= Double(count) + 1e-6
        }
        return fullSize.isPositive && fits(x, width, size.width) && fits(y, height, size.height)
    }

    /// Returns the position after the samples, of size `size`, are made upright.
    package func upright(from orientation: ImageOrientation, size: PixelSize) -> ImageReduction {
        let right = Double(size.width) - x - width
        let bottom = Double(size.height) - y - height
        let isMirrored = [.upMirrored, .down, .rightMirrored, .left].contains(orientation)
        let isFlipped = [.down, .downMirrored, .right, .rightMirrored].contains(orientation)
        let stored = ImageReduction(
            of: fullSize, x: isMirrored ? right : x, y: isFlipped ? bottom : y, width: width, height: height)
        guard orientation.swapsSides else { return stored }
        return ImageReduction(
            of: fullSize.transposed, x: stored.y, y: stored.x, width: stored.height, height: stored.width)
    }
}
