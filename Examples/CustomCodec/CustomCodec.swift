import Alcedo
import Foundation

/// A program that adds a codec for a custom format to the registry, and encodes and decodes an image with it.
@main enum CustomCodec {
    static func main() throws {
        let codecs = CodecRegistry.standard.adding(.farbfeld)
        print("formats: \(codecs.entries.map(\.format.rawValue).joined(separator: ", "))")

        // The registry recognizes the format by its first bytes.
        let image = try sampleImage()
        let file = try FarbfeldEncoder().encode(image)
        let decoded = try codecs.decode(file)
        let pixels = decoded.pixels == image.pixels ? "equal pixels" : "different pixels"
        print("farbfeld: \(file.count) bytes, \(decoded.size), \(pixels)")

        // Every API that takes a registry or an encoder accepts the new registry and the new encoder.
        let converter = ImageConverter(codecs: codecs)
        let png = try converter.convert(file, to: .png())
        let small = try converter.convert(png, to: FarbfeldEncoder(), fitting: PixelSize(width: 16, height: 16))
        let info = try codecs.inspect(small)
        print("farbfeld to png to \(info.format): \(file.count), \(png.count), \(small.count) bytes, \(info.size)")

        // A truncated file throws an error; this decoder returns no partial image.
        do {
            _ = try codecs.decode(file.dropLast())
        } catch {
            print("a truncated file: \(error.code), \(error)")
        }
    }

    /// Returns an image of 32 x 32 pixels with colors and transparency.
    private static func sampleImage() throws -> DecodedImage {
        let size = PixelSize(width: 32, height: 32)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, bytesPerRow in
            for y in 0..<size.height {
                for index in 0..<size.width * 4 { memory[y * bytesPerRow + index] = UInt8(index + y * 4) }
            }
        }
        guard let pixels else { throw ImageEncodingError(.outOfMemory, "cannot allocate the pixels: out of memory") }
        return DecodedImage(pixels: pixels)
    }
}
