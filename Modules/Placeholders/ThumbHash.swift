public import AlcedoCore
public import FoundationEssentials

/// A hash of 17 to 25 bytes that contains the aspect ratio, the colors and the transparency of an image.
///
/// ```swift
/// let hash = try ThumbHash(image).base64
/// let placeholder = ThumbHash(base64: hash)?.image
/// ```
///
/// A server computes the hash once and sends it with the URL of the image. An app shows the small, blurred image of the
/// hash as a placeholder until the image itself is loaded.
///
/// Source: Evan Wallace, "ThumbHash" (<https://evanw.github.io/thumbhash/>), whose JavaScript implementation defines
/// the format.
public struct ThumbHash: Sendable, Hashable {
    /// The bytes of the hash.
    public let bytes: Data

    /// Creates a hash from its bytes. Returns nil when there are fewer bytes than the header requires, or more than 64.
    public init?(bytes: Data) {
        guard (5...64).contains(bytes.count) else { return nil }
        let header = ThumbHashHeader(Array(bytes))
        guard bytes.count >= header.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates a hash from its bytes in base64, with or without padding. Returns nil when the text is not base64, or
    /// when ``init(bytes:)`` returns nil for the bytes.
    public init?(base64: String) {
        guard base64.utf8.count <= 88 else { return nil }
        let text = base64.prefix { $0 != "=" }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard base64 == text || base64 == text + padding, let bytes = Data(base64Encoded: text + padding) else {
            return nil
        }
        self.init(bytes: bytes)
    }

    /// Computes the hash of an image, or of the first frame of an animation.
    ///
    /// The orientation is applied. An image with a side of more than 100 pixels is averaged down to fit into 100 by 100
    /// pixels. The color profile is not applied.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` with the code `outOfMemory`.
    /// - Complexity: O(*w* × *h*) for large images, and at most a few million multiplications.
    public init(_ image: DecodedImage) throws(ImageDecodingError) {
        bytes = Data(ThumbHashEncoder(try ReducedImage(image)).bytes)
    }

    /// The bytes in base64, with padding. The hash of an image has 24 to 36 characters.
    public var base64: String { bytes.base64EncodedString() }

    /// The approximate width of the image divided by its height: a quotient of two integers from 1 to 7.
    public var aspectRatio: Double { ThumbHashHeader(Array(bytes)).aspectRatio }

    /// The average color of the image, in which pixels are weighted by their alpha.
    public var averageColor: PixelColor {
        let header = ThumbHashHeader(Array(bytes))
        let pixel = LPQA(header.average).rgba
        let sample = { (value: Double) in UInt8(max(0, min(1, value)) * 255 + 0.5) }
        return PixelColor(
            red: sample(pixel.x), green: sample(pixel.y), blue: sample(pixel.z), alpha: sample(pixel.w))
    }

    /// The image of the hash, or nil when its memory cannot be allocated. The format is RGBA8, opaque or with straight
    /// alpha, and the longer side has 32 pixels. Scale it up to the size of the image with linear filtering.
    ///
    /// The image is decoded at each access, which takes about 0.3 ms.
    public var image: DecodedImage? {
        let header = ThumbHashHeader(Array(bytes))
        let (ratio, longest) = (header.aspectRatio, 32.0)
        let size = PixelSize(
            width: Int((ratio > 1 ? longest : longest * ratio) + 0.5),
            height: Int((ratio > 1 ? longest / ratio : longest) + 0.5))
        let decoder = ThumbHashDecoder(Array(bytes), header, size)
        let pixels = PixelBuffer(
            size: size, format: .rgba8, alphaMode: header.hasAlpha ? .straight : .opaque
        ) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    memory.storeBytes(
                        of: decoder.pixel(x, y), toByteOffset: y * stride + 4 * x, as: SIMD4<UInt8>.self)
                }
            }
        }
        return pixels.map { DecodedImage(pixels: $0) }
    }
}
