import AlcedoCore
import Foundation

/// An encoder of the format of ``PlugInDecoder``, for gray images with sides of at most 255 pixels.
struct PlugInEncoder: ImageEncoding {
    let format = ImageFormat.plugIn

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let pixels = image.pixels
        guard pixels.format == .gray8, max(pixels.width, pixels.height) <= 255 else {
            throw ImageEncodingError(.unsupportedImage, "not a small gray image")
        }
        let samples = pixels.withUnsafeBytes { memory in
            (0..<pixels.height).flatMap { memory[$0 * pixels.bytesPerRow..<$0 * pixels.bytesPerRow + pixels.width] }
        }
        return Data("PLUG".utf8) + [UInt8(pixels.width), UInt8(pixels.height)] + samples
    }
}
