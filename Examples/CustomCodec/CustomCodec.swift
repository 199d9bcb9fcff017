import Alcedo
import Foundation

/// Teaches the registry a format of its own, and takes an image through it and back.
@main
enum CustomCodec {
    static func main() throws {
        let codecs = CodecRegistry.standard.adding(.farbfeld)
        print("formats: \(codecs.entries.map(\.format.rawValue).joined(separator: ", "))")

        // The registry recognizes the format by its first bytes.
        let image = try sampleImage()
        let file = try FarbfeldEncoder().encode(image)
        let decoded = try codecs.decode(file)
        let pixels = decoded.pixels == image.pixels ? "the same pixels" : "other pixels"
        print("farbfeld: \(file.count) bytes, \(decoded.size), \(pixels)")

        // Whatever takes a registry or an encoder takes this one.
        let converter = ImageConverter(codecs: codecs)
        let png = try converter.convert(file, to: .png())
        let small = try converter.convert(png, to: FarbfeldEncoder(), fitting: PixelSize(width: 16, height: 16))
        let info = try codecs.inspect(small)
        print("farbfeld to png to \(info.format): \(file.count), \(png.count), \(small.count) bytes, \(info.size)")

        // A file that ends early is an error, never half an image.
        do {
            _ = try codecs.decode(file.dropLast())
        } catch {
            print("a truncated file: \(error.code), \(error)")
        }
    }

    /// A square of 32 x 32 pixels with colors and transparency.
    private static func sampleImage() throws -> DecodedImage {
        let size = PixelSize(width: 32, height: 32)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, bytesPerRow in
            for y in 0..<size.height {
                for index in 0..<size.width * 4 { memory[y * bytesPerRow + index] = UInt8(index + y * 4) }
            }
        }
        guard let pixels else { throw ImageEncodingError(.outOfMemory, "the system refused the memory") }
        return DecodedImage(pixels: pixels)
    }
}
