public import AlcedoCore

import AlcedoLibc

/// Turns an image about its middle; the result is as large as it must be to hold all of it.
///
/// Quarter turns copy pixels and keep the format. Other angles weigh 4 x 4 pixels by cubic convolution with colour
/// multiplied by alpha, and edges are anti-aliased against the background: under an opaque one the result is opaque,
/// else opaque images get straight alpha and `gray8` and `rgbx8` become `rgba8`; `gray8` becomes `rgbx8` on a background
/// in colour. Directions are those of the rows in memory, that is before ``DecodedImage/orientation``.
///
/// - Complexity: O(pixels of the result), one new buffer. Rows are collected.
public struct Rotate: ImageProcessing, Hashable {
    /// In degrees; any finite number.
    public let angle: Double
    /// What the corners are filled with that the image does not cover.
    public let background: PixelColor

    /// - Parameters:
    ///   - angle: In degrees, clockwise; ``process(_:)`` throws `invalidParameter` for one that is not finite.
    ///   - background: What the corners are filled with that the image does not cover.
    public init(clockwise angle: Double, background: PixelColor = .clear) {
        self.angle = angle
        self.background = background
    }

    /// Turns by quarters of a circle, clockwise; a negative number turns the other way.
    public init(quarterTurns: Int) { self.init(clockwise: Double(quarterTurns % 4) * 90) }

    public var identifier: String { "rotate:\(angle),\(background)" }

    /// - Throws: `invalidParameter`; `tooLarge` for a result that is larger than the source and than ``Resize`` makes.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        guard angle.isFinite else {
            throw ImageProcessingError(.invalidParameter, "cannot turn by \(angle) degrees")
        }
        let turn = (angle.truncatingRemainder(dividingBy: 360) + 360).truncatingRemainder(dividingBy: 360)
        let quarters: [Double: ImageOrientation] = [0: .up, 90: .right, 180: .down, 270: .left]
        if let orientation = quarters[turn] { return try image.turned(from: orientation) }
        let radians = turn * .pi / 180
        let rotation = Rotation(cosine: cos(radians), sine: sin(radians))
        let size = rotation.size(of: image.size)
        try PixelLimits.check(size, from: image.size)
        guard let pixels = rotation.rotated(image.pixels, size: size, background: background) else {
            throw ImageProcessingError(.tooLarge, "no buffer holds \(size) pixels")
        }
        return image.still(pixels)
    }
}
