package import AlcedoCore
import FoundationEssentials

/// Returns pixels whose samples a closure returns, of which the lowest bits count. Throws when memory is exhausted.
package func madePixels(
    _ size: PixelSize, _ format: PixelFormat, alphaMode: AlphaMode, _ sample: (_ x: Int, _ y: Int) -> [Int]
) throws -> PixelBuffer {
    let pixels = PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, stride in
        for y in 0..<size.height {
            for x in 0..<size.width {
                for (channel, value) in sample(x, y).enumerated() {
                    let offset = y * stride + x * format.bytesPerPixel
                    if format.isDeep {
                        memory.storeBytes(
                            of: UInt16(truncatingIfNeeded: value), toByteOffset: offset + 2 * channel,
                            as: UInt16.self)
                    } else {
                        memory[offset + channel] = UInt8(truncatingIfNeeded: value)
                    }
                }
            }
        }
    }
    guard let pixels else { throw CocoaError(.fileReadUnknown) }
    return pixels
}
