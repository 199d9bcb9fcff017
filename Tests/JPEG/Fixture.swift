import AlcedoCore
import AlcedoJPEG
import Foundation

/// A file of the folder `Fixtures`.
func fixture(_ name: String) throws -> Data {
    let url = Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Fixtures")
    guard let url else { throw CocoaError(.fileNoSuchFile) }
    return try Data(contentsOf: url)
}

/// How decoding fails; nil when it does not.
func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
    do throws(ImageDecodingError) {
        _ = try JPEGDecoder().decode(data, options: DecodingOptions(limits: limits))
        return nil
    } catch {
        return error.code
    }
}

extension PixelBuffer {
    /// The bytes of all pixels, without padding.
    var tightBytes: [UInt8] {
        withUnsafeBytes { memory in
            (0..<height).flatMap { y in memory[y * bytesPerRow..<y * bytesPerRow + usedBytesPerRow] }
        }
    }

    /// Red, green, blue and alpha of one pixel.
    func rgba(_ x: Int, _ y: Int) -> [UInt8] {
        Array(tightBytes[4 * (y * width + x)..<4 * (y * width + x) + 4])
    }
}

/// Opaque RGBA of the samples in a `.raw` fixture, which has one or three a pixel.
func reference(_ name: String, channels: Int = 3) throws -> [UInt8] {
    let samples = Array(try fixture(name))
    return stride(from: 0, to: samples.count, by: channels).flatMap { pixel in
        (0..<3).map { samples[pixel + min($0, channels - 1)] } + [255]
    }
}
