public import AlcedoCore

/// A hash of 6 to 166 characters that contains the colors of an image.
///
/// ```swift
/// let hash = try BlurHash(image).text
/// let placeholder = BlurHash(hash)?.image(width: 32, height: 24)
/// ```
///
/// A hash contains neither the aspect ratio nor the transparency of the image. Send the size of the image with the
/// hash. Prefer ``ThumbHash`` unless another program requires BlurHash.
///
/// Source: Dag Ågren, "BlurHash Algorithm" (<https://github.com/woltapp/blurhash/blob/master/Algorithm.md>).
public struct BlurHash: Sendable, Hashable {
    /// The hash in base 83.
    public let text: String

    /// The number of horizontal and vertical components, each from 1 to 9.
    let components: (x: Int, y: Int)
    private let digits: [UInt8]

    /// Creates a hash from its text. Returns nil when a character is not a digit of base 83, or when the length differs
    /// from the length that the first character declares.
    public init?(_ text: String) {
        guard text.utf8.count <= 166, let digits = Base83.values(of: text), let flag = digits.first else { return nil }
        components = (Int(flag) % 9 + 1, Int(flag) / 9 + 1)
        guard components.y <= 9, digits.count == 4 + 2 * components.x * components.y else { return nil }
        self.text = text
        self.digits = digits
    }

    /// Computes the hash of an image, or of the first frame of an animation.
    ///
    /// The orientation is applied, and an image with alpha is drawn on white. An image with a side of more than 100
    /// pixels is averaged down to fit into 100 by 100 pixels. The color profile is not applied.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - horizontal: The number of horizontal components, from 1 to 9. Other values are clamped. Default: 4.
    ///   - vertical: The number of vertical components, from 1 to 9. Other values are clamped. Default: 3.
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` with the code `outOfMemory`.
    /// - Complexity: O(*w* × *h*) for large images, and at most a few million multiplications.
    public init(_ image: DecodedImage, horizontal: Int = 4, vertical: Int = 3) throws(ImageDecodingError) {
        components = (max(1, min(9, horizontal)), max(1, min(9, vertical)))
        digits = BlurHashCoding.digits(of: try ReducedImage(image), components)
        text = Base83.text(of: digits)
    }

    /// Returns the opaque image of the hash, in RGBA8, or nil when its memory cannot be allocated.
    ///
    /// A small image that a view scales up looks like a large one and takes less time to decode.
    ///
    /// - Parameters:
    ///   - width: The width in pixels, from 1 to 1,024. Other values are clamped. Default: 32.
    ///   - height: The height in pixels, from 1 to 1,024. Other values are clamped. Default: 32.
    /// - Complexity: O(*w* × *h* × *c*), where *c* is the number of components.
    public func image(width: Int = 32, height: Int = 32) -> DecodedImage? {
        let size = PixelSize(width: max(1, min(1024, width)), height: max(1, min(1024, height)))
        let decoder = BlurHashCoding(digits, components, size)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    memory.storeBytes(
                        of: decoder.pixel(x, y), toByteOffset: y * stride + 4 * x, as: SIMD4<UInt8>.self)
                }
            }
        }
        return pixels.map { DecodedImage(pixels: $0) }
    }

    /// Whether both hashes have the same text.
    public static func == (a: BlurHash, b: BlurHash) -> Bool { a.text == b.text }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The digits of BlurHash.
enum Base83 {
    private static let characters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Returns the values of the digits, or nil when a character is not a digit.
    static func values(of text: String) -> [UInt8]? {
        var values: [UInt8] = []
        for character in text.utf8 {
            guard let value = characters.firstIndex(of: character) else { return nil }
            values.append(UInt8(truncatingIfNeeded: value))
        }
        return values
    }

    static func text(of values: [UInt8]) -> String {
        String(decoding: values.map { characters[Int($0) % characters.count] }, as: UTF8.self)
    }

    /// Returns the digits of a number, the most significant first.
    static func digits(of number: Int, count: Int) -> [UInt8] {
        var rest = number
        let reversed = (0..<count).map { _ in
            defer { rest /= 83 }
            return UInt8(truncatingIfNeeded: rest % 83)
        }
        return reversed.reversed()
    }

    static func number(of digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 83 + Int($1) } }
}
