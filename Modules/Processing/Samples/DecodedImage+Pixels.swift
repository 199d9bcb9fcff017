import AlcedoCore

extension DecodedImage {
    /// The same picture with other pixels: profile, orientation, scale, format and damage stay, an animation does not,
    /// because its frames would no longer match.
    func still(_ pixels: PixelBuffer) -> DecodedImage {
        DecodedImage(
            pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format,
            damage: damage)
    }
}
