public import AlcedoCore
public import FoundationEssentials

/// The result of a conversion to several variants.
public struct ConvertedImages: Sendable {
    /// The encoded variants, in the order of the call.
    public var variants: [ConvertedImage]
    /// The properties of the source image.
    public var source: ImageInfo
    /// The worst damage of the source image that was tolerated, including that of later frames that a variant has or
    /// should have; nil if there is none.
    public var damage: ImageDamage?
    /// The BlurHash with 4 × 3 components, if the call asked for it.
    public var blurHash: String?
    /// The bytes of the ThumbHash, if the call asked for it. Clients exchange them as Base64.
    public var thumbHash: Data?
    /// The dominant color, if the call asked for it; nil also for an image without opaque pixels.
    public var dominantColor: PixelColor?
}

/// One encoded variant of an image.
public struct ConvertedImage: Sendable {
    /// The encoded bytes. Empty if the caller received them in pieces.
    public var data: Data
    /// The format of the bytes.
    public var format: ImageFormat
    /// The size as stored, in pixels. It is that of the upright image, unless the converter's `appliesOrientation` is
    /// false.
    public var size: PixelSize
    /// The number of frames; 1 for a still image.
    public var frameCount: Int
    /// The properties of the source that the bytes do not preserve, also those that the converter's ``MetadataPolicy``
    /// omits. For bytes that the caller received in pieces, only ``ConversionLoss/animation`` and
    /// ``ConversionLoss/alpha`` are known.
    public var losses: [ConversionLoss]

    /// The media type of the bytes, such as `image/webp`, for the field `Content-Type`.
    public var mediaType: String { format.mediaType }
}
