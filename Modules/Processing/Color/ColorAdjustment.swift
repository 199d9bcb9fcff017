public import AlcedoCore

/// Changes brightness, contrast and saturation, in this order.
///
/// Works on every pixel format, on samples as they are stored, as CSS filters do: brightness multiplies them, contrast
/// multiplies their distance from the middle, saturation their distance from the gray of the same luminance. 1 leaves
/// everything as it is, 0 makes all black, all middle gray, or all gray. Samples are cut off once, at the end. Format and
/// alpha stay.
///
/// Source: W3C, Filter Effects Module Level 1, §9.
///
/// - Complexity: O(*w* × *h*), one new buffer, or two rows.
public struct ColorAdjustment: PointProcessing, Hashable {
    /// What every colour sample is multiplied by.
    public let brightness: Double
    /// What every sample's distance from the middle is multiplied by.
    public let contrast: Double
    /// What every sample's distance from the pixel's gray is multiplied by.
    public let saturation: Double

    /// Factors from 0; ``PointProcessing/process(_:)`` throws `invalidParameter` for those below and for what is not finite.
    public init(brightness: Double = 1, contrast: Double = 1, saturation: Double = 1) {
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
    }

    public var identifier: String { "color:\(brightness),\(contrast),\(saturation)" }

    public func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork? {
        for (name, value) in [("brightness", brightness), ("contrast", contrast), ("saturation", saturation)] {
            guard value.isFinite, value >= 0 else {
                throw ImageProcessingError(.invalidParameter, "a \(name) of \(value) makes no sense")
            }
        }
        guard self != ColorAdjustment() else { return nil }
        // Beyond a million everything is at its end anyway, and products of three stay finite.
        let factors = [brightness, contrast, saturation].map { Float(min($0, 1e6)) }
        let matrix = ColorMatrix(brightness: factors[0], contrast: factors[1], saturation: factors[2])
        return PointWork(on: header) { pixels, _ in
            guard let base = pixels.baseAddress else { return }
            matrix.apply(to: base, count: pixels.count)
        }
    }
}
