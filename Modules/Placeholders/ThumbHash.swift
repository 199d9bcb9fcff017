public import AlcedoCore
public import FoundationEssentials

/// A placeholder of 5 to 25 bytes with the aspect ratio, the colors and the transparency of an image.
///
/// A server computes the hash once and sends it with the address of the image. An app shows the small, blurred image of
/// the hash until the image itself is loaded.
///
/// ```swift
/// let hash = try ThumbHash(image).base64
/// let placeholder = ThumbHash(base64: hash)?.image
/// ```
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

    /// Creates a hash from its bytes in base64, with or without padding. Returns nil when the text is not base64, and
    /// in the cases of ``init(bytes:)``.
    public init?(base64: String) {
        guard base64.utf8.count <= 88 else { return nil }
        let text = base64.filter { $0 != "=" }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text + padding) else { return nil }
        self.init(bytes: bytes)
    }

    /// Computes the hash of an image, or of the first frame of an animation.
    ///
    /// The image is made upright. Images of more than 100 pixels in one direction are averaged down to 100. The color
    /// profile is not applied.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` `outOfMemory`.
    /// - Complexity: O(*w* × *h*) for large images, and at most a few million multiplications.
    public init(_ image: DecodedImage) throws(ImageDecodingError) {
        bytes = Data(ThumbHashEncoder(try ReducedImage(image)).bytes)
    }

    /// The bytes in base64, with padding: at most 36 characters.
    public var base64: String { bytes.base64EncodedString() }

    /// The width of the image divided by its height, approximately: a quotient of whole numbers up to 7.
    public var aspectRatio: Double { ThumbHashHeader(Array(bytes)).aspectRatio }

    /// The average color of the image. Transparent pixels count less.
    public var averageColor: PixelColor {
        let header = ThumbHashHeader(Array(bytes))
        let pixel = LPQA(header.average).rgba
        let sample = { (value: Double) in UInt8(max(0, min(1, value)) * 255 + 0.5) }
        return PixelColor(
            red: sample(pixel.x), green: sample(pixel.y), blue: sample(pixel.z), alpha: sample(pixel.w))
    }

    /// The image of the hash: RGBA8 with straight alpha, 32 pixels on its longer side. Scale it up to the size of the
    /// image with linear filtering. Nil when its memory cannot be allocated.
    ///
    /// - Complexity: About 100,000 multiplications, which take about 0.3 ms.
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
