public import FoundationEssentials

/// A decoded image: pixels, and the information that is needed to display them correctly.
///
/// ```swift
/// let image = try CodecRegistry.standard.decode(data)
/// print(image.size.width, image.size.height, image.isAnimated)
/// ```
public struct DecodedImage: Sendable {
    /// The pixels; for an animation, those of the first frame.
    public var pixels: PixelBuffer
    /// The ICC profile of the samples; nil means sRGB.
    public var colorProfile: Data?
    /// The orientation of the rows. `.up` after a decoder has applied the orientation of the file.
    public var orientation: ImageOrientation
    /// The number of pixels per point of a layout. Default: 1.
    public var scale: Double
    /// The format of the file, or nil when the image was created in memory.
    public var format: ImageFormat?
    /// The frames of an animation, of which ``pixels`` is the first; nil for a still image.
    public var frames: (any ImageFrameSource)?
    /// The worst damage of the file that was tolerated, or nil when no damage was found.
    ///
    /// Its kind is at most ``DecodingOptions/tolerance``. Processors keep it. Damage in the pixels of later frames is
    /// not known before they are requested: see ``ImageFrameSource/damage``.
    public var damage: ImageDamage?

    /// The position of the pixels in the full image, when a decoder reduced the image; nil in all other cases. Default:
    /// nil. With it, a resize has the size and the position that it has for the full image. Processors that change the
    /// size or the position of the pixels set it to nil.
    public var reduction: ImageReduction?

    /// Whether the samples are inks, which must be converted before any other use: see ``PixelRowHeader/hasInks``.
    public var hasInks = false

    /// The color model of the file, if an encoder is to keep it: see ``PixelRowHeader/storedModel``. Decoders leave it
    /// nil. Default: nil.
    public var storedModel: ColorModel?

    /// Creates an image. By default it is an upright still image in sRGB with one pixel per point, created in memory.
    public init(
        pixels: PixelBuffer,
        colorProfile: Data? = nil,
        orientation: ImageOrientation = .up,
        scale: Double = 1,
        format: ImageFormat? = nil,
        frames: (any ImageFrameSource)? = nil,
        damage: ImageDamage? = nil
    ) {
        self.pixels = pixels
        self.colorProfile = colorProfile
        self.orientation = orientation
        self.scale = scale
        self.format = format
        self.frames = frames
        self.damage = damage
    }

    /// The size of the stored image in pixels, before ``orientation`` is applied.
    public var size: PixelSize { pixels.size }

    /// Whether the image has more than one frame.
    public var isAnimated: Bool { (frames?.frameCount ?? 1) > 1 }

    /// The error that made the image partial, or nil when the image is complete: the error of a ``damage`` that means
    /// missing pixels.
    ///
    /// Decoders return partial images only when ``DecodingOptions/allowsPartial`` is true. Missing pixels are
    /// transparent black, or have a lower resolution than in the complete image.
    public var partialError: ImageDecodingError? {
        get { isPartial ? damage?.error : nil }
        set {
            if let newValue {
                damage = ImageDamage(.missingPixels, newValue)
            } else if isPartial {
                damage = nil
            }
        }
    }

    /// Returns the duration that an encoder writes for a frame: the raw one, except that at most 10 ms in an animation
    /// from GIF or PNG becomes 100 ms. Browsers show such frames for 100 ms, which their authors rely on, but players
    /// of other formats take the duration literally.
    ///
    /// - Parameters:
    ///   - index: The index of the frame.
    ///   - keepsShortDelays: Whether the raw duration is returned in every case.
    package func writtenDelay(at index: Int, keepsShortDelays: Bool) -> Duration {
        guard let frames else { return .zero }
        return keepsShortDelays || format != .gif && format != .png
            ? frames.rawDelay(at: index) : frames.delay(at: index)
    }

    /// Whether the image is incomplete. ``partialError`` describes the reason.
    public var isPartial: Bool { damage?.kind == .missingPixels }

    /// The number of bytes that the image occupies: rows with their padding, ICC profile and animation.
    public var cost: Int {
        pixels.byteCount + (colorProfile?.count ?? 0) + (frames?.cost ?? 0)
    }
}

extension DecodedImage {
    /// A closure that returns the image while another owner keeps its pixels, and its animation if it has one, in
    /// memory. After that, the closure returns nil.
    ///
    /// The closure itself keeps at most the ICC profile in memory. The value is nil when the animation is not a class
    /// instance, because weak references need one.
    public var weakReference: (@Sendable () -> DecodedImage?)? {
        let pixels = pixels.weakReference
        let animation = frames as? any ImageFrameSource & AnyObject
        guard frames == nil || animation != nil else { return nil }
        let isAnimated = animation != nil
        return { [colorProfile, orientation, scale, format, damage, reduction, hasInks, storedModel, weak animation] in
            guard let pixels = pixels(), !isAnimated || animation != nil else { return nil }
            var image = DecodedImage(
                pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format,
                frames: animation, damage: damage)
            image.reduction = reduction
            image.hasInks = hasInks
            image.storedModel = storedModel
            return image
        }
    }
}
