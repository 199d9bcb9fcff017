import AlcedoCore
import FoundationEssentials
import TestSupport

/// What was made for a request: the content that the server sent, and everything that was done with it. Eight gray
/// pixels hold it, and so does a file.
struct IdentityPicture: Equatable {
    /// The number of the content.
    var content: UInt16
    /// The number of bytes of a file that has a part of the content; zero for the whole.
    var part: UInt8 = 0
    /// The number of the codec that decoded the content.
    var codec: UInt8 = 0
    /// The width of the target for which it was decoded; zero without one.
    var target: UInt8 = 0
    /// The processors in order.
    var steps: [UInt8] = []

    init(content: UInt16) { self.content = content }

    // MARK: Pixels

    private static let size = PixelSize(width: 4, height: 2)
    private static let stepLimit = 3

    private init(bytes: [UInt8]) {
        content = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        (part, codec, target) = (bytes[2], bytes[3], bytes[4])
        steps = Array(bytes[5...].prefix { $0 > 0 })
    }

    private var bytes: [UInt8] {
        let padding = repeatElement(UInt8(0), count: Self.stepLimit - steps.count)
        return [UInt8(content >> 8), UInt8(content & 255), part, codec, target] + steps + padding
    }

    init(_ image: DecodedImage) { self.init(bytes: image.pixels.tightBytes) }

    var image: DecodedImage {
        // Eight bytes always fit in memory.
        let pixels = PixelBuffer(size: Self.size, format: .gray8, alphaMode: .straight) { memory, bytesPerRow in
            for (index, byte) in bytes.enumerated() {
                memory[index / Self.size.width * bytesPerRow + index % Self.size.width] = byte
            }
        }!
        return DecodedImage(pixels: pixels)
    }

    // MARK: Files

    private static let beginning = Array("mark:".utf8)

    /// The beginning, and the bytes as letters three times, so that a mixture of two files is no file.
    var file: Data {
        let letters = bytes.flatMap { [UInt8(ascii: "a") + $0 >> 4, UInt8(ascii: "a") + $0 & 15] }
        return Data(Self.beginning + letters + letters + letters)
    }

    /// Reads a file, or a part from its beginning with all bytes. Returns nil for a mixture.
    init?(file: Data) {
        let letters = file.dropFirst(Self.beginning.count).prefix(16).map { $0 &- UInt8(ascii: "a") }
        guard letters.count == 16, letters.allSatisfy({ $0 < 16 }) else { return nil }
        self.init(bytes: stride(from: 0, to: 16, by: 2).map { letters[$0] << 4 | letters[$0 + 1] })
        let whole = self.file
        guard file == whole.prefix(file.count) else { return nil }
        if file.count < whole.count { part = UInt8(file.count) }
    }

    /// A codec that leaves its number in the images that it decodes.
    struct Codec: ImageDecoding, ImageEncoding {
        let number: UInt8

        var format: ImageFormat { ImageFormat(rawValue: "mark") }

        var registry: CodecRegistry {
            var entry = CodecRegistry.Entry(format: format, decoder: self) { $0.contains(beginning) }
            entry.makeEncoder = { _ in self }
            return CodecRegistry([entry])
        }

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            let info = ImageInfo(format: format, size: IdentityPicture.size)
            return WholeImageReader(info) { [number] options throws(ImageDecodingError) in
                guard var picture = IdentityPicture(file: data) else { throw ImageDecodingError(.corrupt, "a mixture") }
                if number > 0 { picture.codec = number }
                if let target = options.target { picture.target = UInt8(target.size.width) }
                return picture.image
            }
        }

        func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data { IdentityPicture(image).file }
    }

    /// A processor that leaves its number in an image.
    struct Step: ImageProcessing {
        let number: UInt8

        var identifier: String { "step(\(number))" }

        func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            var picture = IdentityPicture(image)
            picture.steps.append(number)
            return picture.image
        }
    }
}
