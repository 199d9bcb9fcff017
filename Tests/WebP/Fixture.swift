import AlcedoCore
import Foundation

/// A file of the folder `Fixtures`.
func fixture(_ name: String) throws -> Data {
    let url = Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Fixtures")
    guard let url else { throw CocoaError(.fileNoSuchFile) }
    return try Data(contentsOf: url)
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

/// Colour under alpha 0 is a decoder's own choice.
func clearingTransparent(_ rgba: Data) -> [UInt8] {
    var bytes = Array(rgba)
    for pixel in stride(from: 0, to: bytes.count, by: 4) where bytes[pixel + 3] == 0 {
        bytes.replaceSubrange(pixel..<pixel + 4, with: [0, 0, 0, 0])
    }
    return bytes
}
