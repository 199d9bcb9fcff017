/// A converter of rows of any pixel format to straight 8-bit RGBA, which every encoder supports.
package struct StraightRowConverter {
    private let header: PixelRowHeader
    private var output: [UInt8]

    package init(_ header: PixelRowHeader) {
        self.header = header
        output = Array(repeating: 255, count: header.size.width * 4)
    }

    /// Returns the pixels of the row: red, green, blue, alpha. 16-bit samples lose their low byte. Premultiplied color
    /// with alpha 0 becomes black.
    package mutating func convert(_ row: RawSpan) -> [UInt8] {
        let width = header.size.width
        row.withUnsafeBytes { row in
            switch header.format {
            case .gray8:
                for x in 0..<width {
                    for channel in 0..<3 { output[4 * x + channel] = row[x] }
                }
            case .rgba8, .rgbx8:
                for index in 0..<4 * width { output[index] = row[index] }
            case .gray16:
                for x in 0..<width {
                    let sample = row.loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self)
                    for channel in 0..<3 { output[4 * x + channel] = UInt8(truncatingIfNeeded: sample >> 8) }
                }
            case .rgba16:
                for index in 0..<4 * width {
                    let sample = row.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
                    output[index] = UInt8(truncatingIfNeeded: sample >> 8)
                }
            }
        }
        if header.alphaMode == .premultiplied {
            output.withUnsafeMutableBytes { AlphaArithmetic.unpremultiply($0, .rgba8) }
        }
        return output
    }
}

extension PixelBuffer {
    /// Returns the first `rowCount` rows as straight RGBA8, followed by transparent rows. Returns nil when the memory
    /// cannot be allocated.
    package func straightRGBA(rowCount: Int) -> PixelBuffer? {
        var converter = StraightRowConverter(PixelRowHeader(size: size, format: format, alphaMode: alphaMode))
        return PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, stride in
            for y in 0..<rowCount {
                UnsafeMutableRawBufferPointer(rebasing: memory[(y * stride)...]).copyBytes(
                    from: converter.convert(row(y)))
            }
            UnsafeMutableRawBufferPointer(rebasing: memory[(rowCount * stride)...]).initializeMemory(
                as: UInt8.self, repeating: 0)
        }
    }
}
