import AlcedoCore

extension PixelBuffer {
    /// Returns an image of the given samples, row by row.
    static func samples(
        _ samples: [UInt8], width: Int, format: PixelFormat = .rgbx8, alphaMode: AlphaMode = .opaque
    ) -> PixelBuffer {
        let used = width * format.bytesPerPixel
        let size = PixelSize(width: width, height: samples.count / used)
        let buffer = PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<used { memory[y * bytesPerRow + x] = samples[y * used + x] }
            }
        }
        guard let buffer else { fatalError("test images are small") }
        return buffer
    }

    /// Returns an image of 16-bit samples in the machine's byte order.
    static func samples16(_ samples: [UInt16], width: Int, alphaMode: AlphaMode) -> PixelBuffer {
        let bytes = samples.flatMap { sample in Swift.withUnsafeBytes(of: sample) { Array($0) } }
        return .samples(bytes, width: width, format: .rgba16, alphaMode: alphaMode)
    }

    /// Returns an image of one brightness per pixel.
    static func grays(_ samples: [UInt8], width: Int) -> PixelBuffer {
        .samples(samples, width: width, format: .gray8)
    }

    /// The red, green and blue samples of a four-byte format, row by row.
    var colors: [[UInt8]] {
        withUnsafeBytes { bytes in
            (0..<height).flatMap { y in
                (0..<width).map { x in (0..<3).map { bytes[y * bytesPerRow + x * 4 + $0] } }
            }
        }
    }
}

let red: [UInt8] = [255, 0, 0, 255]
let green: [UInt8] = [0, 255, 0, 255]
let blue: [UInt8] = [0, 0, 255, 255]
let white: [UInt8] = [255, 255, 255, 255]
