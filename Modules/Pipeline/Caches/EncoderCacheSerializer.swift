public import AlcedoCore
public import FoundationEssentials

/// The form of images on disk that one encoder writes.
///
/// ```swift
/// request.serializer = EncoderCacheSerializer(ImageEncoder.webp(quality: 60), identifier: "webp 60")
/// request.dataCachePolicy = .processed
/// ```
///
/// An image that the format cannot hold (``/AlcedoCore/ImageEncoding/canEncode(_:)``), such as an animation in JPEG, or
/// that cannot be encoded, is not stored. The codecs of the pipeline read the bytes.
public struct EncoderCacheSerializer: CacheSerializer {
    /// The identifier of the encoder and its parameters.
    public let identifier: String
    private let encoder: any ImageEncoding

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - identifier: A text that differs for encoders that write different bytes.
    public init(_ encoder: any ImageEncoding, identifier: String) {
        self.encoder = encoder
        self.identifier = identifier
    }

    /// Returns the encoded image. Returns nil when the encoder cannot hold or encode it.
    public func bytes(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (data: Data, isOriginal: Bool)? {
        guard encoder.canEncode(image) else { return nil }
        return (try? encoder.encode(image.storedForm)).map { ($0, false) }
    }

    /// Returns the asynchronous decoder of the codec that recognizes the bytes, if it has one.
    public func asyncDecoder(of data: Data, in context: CacheSerializationContext) -> (any AsyncImageDecoding)? {
        context.codecs.asyncDecoder(for: data)
    }
}

extension DecodedImage {
    /// The image as it is stored. Encoders change short delays of animations from GIF and APNG, and a stored image
    /// keeps them.
    var storedForm: DecodedImage {
        guard isAnimated else { return self }
        var image = self
        image.format = nil
        return image
    }
}
