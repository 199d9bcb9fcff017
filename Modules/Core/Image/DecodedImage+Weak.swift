extension DecodedImage {
    /// Gives the image back while something holds its pixels, and its animation if it has one. Keeps nothing large alive
    /// itself: a colour profile at most. nil when that cannot be, because the animation's frames are no object.
    public var weakReference: (@Sendable () -> DecodedImage?)? {
        let pixels = pixels.weakReference
        let animation = frames as? any ImageFrameSource & AnyObject
        guard frames == nil || animation != nil else { return nil }
        let isAnimated = animation != nil
        return { [colorProfile, orientation, scale, format, damage, weak animation] in
            guard let pixels = pixels(), !isAnimated || animation != nil else { return nil }
            return DecodedImage(
                pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format,
                frames: animation, damage: damage)
        }
    }
}
