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
/// that cannot be encoded, is not stored. Nor is one whose asynchronous encoder exceeds `asyncCodecTimeout`. The codecs
/// of the pipeline read the bytes.
public struct EncoderCacheSerializer: CacheSerializer {
    /// The identifier of the encoder and its parameters.
    public let identifier: String
    private let encoder: Encoder

    private enum Encoder: Sendable {
        case sync(any ImageEncoding)
        case async(any AsyncImageEncoding)
    }

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - identifier: A text that differs for encoders that write different bytes.
    public init(_ encoder: any ImageEncoding, identifier: String) {
        self.encoder = .sync(encoder)
        self.identifier = identifier
    }

    /// Creates a serializer of an asynchronous encoder, which the codecs of the pipeline need not have.
    ///
    /// - Parameters:
    ///   - encoder: The encoder.
    ///   - identifier: A text that differs for encoders that write different bytes.
    public init(_ encoder: any AsyncImageEncoding, identifier: String) {
        self.encoder = .async(encoder)
        self.identifier = identifier
    }

    /// Returns the encoded image. Returns nil when the encoder cannot hold or encode it, or is asynchronous.
    public func bytes(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (data: Data, isOriginal: Bool)? {
        guard case .sync(let encoder) = encoder, encoder.canEncode(image) else { return nil }
        return (try? encoder.encode(image.storedForm)).map { ($0, false) }
    }

    /// Returns the encoder if it is asynchronous and can hold the image.
    public func asyncEncoder(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (any AsyncImageEncoding)? {
        guard case .async(let encoder) = encoder, encoder.canEncode(image) else { return nil }
        return encoder
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
