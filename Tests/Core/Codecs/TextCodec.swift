import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// Decodes "pic:" and digits as a row of gray pixels, and "x" among them as damage. Every image lacks an end mark.
/// Records its options.
struct TextCodec: ImageDecoding {
    let calls = Watched<[DecodingOptions]>([])
    var prefix = "pic:"
    var info = ImageInfo(format: ImageFormat(rawValue: "text"), size: PixelSize(width: 3, height: 1))

    var entry: CodecRegistry.Entry {
        CodecRegistry.Entry(format: ImageFormat(rawValue: prefix), decoder: self) { [prefix] in
            $0.contains(Array(prefix.utf8))
        }
    }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        if data.contains(UInt8(ascii: "?")) { throw ImageDecodingError(.corrupt, "no header") }
        return WholeImageReader(info) { options throws(ImageDecodingError) in try image(data, options) }
    }

    private func image(_ data: Data, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        calls.update { $0.append(options) }
        let digits = data.dropFirst(prefix.utf8.count)
        guard !digits.isEmpty else { throw ImageDecodingError(.truncated, "no digits") }
        guard !digits.contains(UInt8(ascii: "x")) else { throw ImageDecodingError(.corrupt, "a digit is damaged") }
        let size = PixelSize(width: digits.count, height: 1)
        let pixels = PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, _ in
            memory.copyBytes(from: digits)
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "no buffer") }
        let damage = ImageDamage(.harmless, ImageDecodingError(.truncated, "no end"))
        return DecodedImage(pixels: pixels, colorProfile: Data([7]), orientation: .down, damage: damage)
    }
}
