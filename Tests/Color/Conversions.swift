import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

/// Returns an image of one row. `samples` are those of the format.
func image(
    _ samples: [UInt16], _ format: PixelFormat = .rgba8, _ alphaMode: AlphaMode = .opaque, profile: Data?
) throws -> DecodedImage {
    let channels = format.isGray ? 1 : 4
    let size = PixelSize(width: samples.count / channels, height: 1)
    let pixels = PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, _ in
        for (index, sample) in samples.enumerated() {
            if format.isDeep {
                memory.storeBytes(of: sample, toByteOffset: 2 * index, as: UInt16.self)
            } else {
                memory[index] = UInt8(sample)
            }
        }
    }
    return DecodedImage(pixels: try #require(pixels), colorProfile: profile)
}

extension DecodedImage {
    /// The samples of all rows.
    var samples: [Int] {
        (0..<pixels.height).flatMap { y in
            pixels.row(y).withUnsafeBytes { row -> [Int] in
                pixels.format.isDeep ? row.bindMemory(to: UInt16.self).map(Int.init) : row.map(Int.init)
            }
        }
    }
}

/// Colors on a grid, with their grays.
let grid: [[UInt16]] =
    stride(from: 0, through: 255, by: 51).flatMap { r in
        stride(from: 0, through: 255, by: 51).flatMap { g in
            stride(from: 0, through: 255, by: 51).map { b in [UInt16(r), UInt16(g), UInt16(b), 255] }
        }
    } + (0...255).map { [$0, $0, $0, 255] }

/// Returns the sRGB samples, from 0 to 1, of linear colors in Display P3. Both have the white D65, so that no
/// adaptation is needed. The matrix is that of the specification CSS Color 4.
func sRGB(linearP3 color: [Double]) -> [Double] {
    let matrix = [
        [1.2249401762805598, -0.2249401762805598, 0], [-0.042056954709688163, 1.0420569547096881, 0],
        [-0.019637554590334432, -0.078636045550631889, 1.0982736001409663],
    ]
    return matrix.map { row in ProfileMaker.sample(zip(row, color).reduce(0) { $0 + $1.0 * $1.1 }) }
}

func code(_ body: () throws -> Void) -> ColorConversionError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ColorConversionError)?.code
    }
}
