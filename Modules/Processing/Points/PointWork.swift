public import AlcedoCore

/// What a ``PointProcessing`` does to the rows of one picture. Used by one thread at a time.
public struct PointWork {
    /// How the result lies in memory.
    let format: PixelFormat
    let alphaMode: AlphaMode
    /// Makes row `y` of the result, at `out`, of row `y` of the picture, which needs no alignment.
    let change: (_ row: UnsafeRawPointer, _ y: Int, _ out: UnsafeMutableRawPointer) -> Void

    init(
        _ format: PixelFormat, _ alphaMode: AlphaMode,
        change: @escaping (_ row: UnsafeRawPointer, _ y: Int, _ out: UnsafeMutableRawPointer) -> Void
    ) {
        self.format = format
        self.alphaMode = alphaMode
        self.change = change
    }

    /// Leaves the samples as they are and names their alpha anew.
    init(relabelling header: PixelRowHeader, _ alphaMode: AlphaMode) {
        let byteCount = header.bytesPerRow
        self.init(header.format, alphaMode) { row, _, out in out.copyMemory(from: row, byteCount: byteCount) }
    }

    /// Works on red, green, blue and alpha from 0 to 1, colour not multiplied by alpha, whatever the picture's format.
    ///
    /// - Parameters:
    ///   - header: What the picture is.
    ///   - format: The result's format; nil for the picture's.
    ///   - alphaMode: The result's alpha mode; nil for the picture's. Alpha of an opaque result is put to its maximum.
    ///   - change: Changes the pixels of row `y`. Samples outside 0 to 1 are taken to its end.
    public init(
        on header: PixelRowHeader, format: PixelFormat? = nil, alphaMode: AlphaMode? = nil,
        change: @escaping (_ pixels: UnsafeMutableBufferPointer<SIMD4<Float>>, _ y: Int) -> Void
    ) {
        let source = PixelCoding(format: header.format, alphaMode: header.alphaMode)
        let result = PixelCoding(format: format ?? header.format, alphaMode: alphaMode ?? header.alphaMode)
        let width = header.size.width
        let pixels = PixelRow(width)
        self.init(result.format, result.alphaMode) { row, y, out in
            source.read(row, width, into: pixels.base)
            change(UnsafeMutableBufferPointer(start: pixels.base, count: width), y)
            result.write(pixels.base, width, to: out)
        }
    }
}
