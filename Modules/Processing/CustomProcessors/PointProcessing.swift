public import AlcedoCore

/// A processor whose result pixels depend on the pixel at the same position only: the image keeps its size, and the
/// operation is the same on a whole image and on rows that arrive.
public protocol PointProcessing: ImageProcessing {
    /// Returns the operation on images of this kind; nil when their pixels stay as they are.
    ///
    /// - Throws: `invalidParameter` for parameters that make no sense.
    func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation?
}

extension PointProcessing {
    /// Works row by row into one new buffer; colour profile, scale and orientation are kept. Of an animation every frame is
    /// processed, when it is asked for.
    ///
    /// - Throws: What ``operation(on:)`` throws; `tooLarge` when there is no memory for the result.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        try image.processingFrames { still throws(ImageProcessingError) in try processed(still) }
    }

    private func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        let pixels = image.pixels
        guard let operation = try operation(on: image.rowHeader) else { return image.still(pixels) }
        let result = pixels.withUnsafeBytes { source in
            PixelBuffer(size: pixels.size, format: operation.format, alphaMode: operation.alphaMode) {
                memory, bytesPerRow in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                for y in 0..<pixels.height {
                    operation.change(from + y * pixels.bytesPerRow, y, to + y * bytesPerRow)
                }
            }
        }
        guard let result else { throw PixelLimits.noBuffer(for: pixels.size) }
        return image.still(result)
    }

    /// Memory: two rows.
    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { PointRows(operation, next: next) }
}

/// The operation of a ``PointProcessing`` on the rows of one image. Used by one thread at a time.
public struct PointOperation {
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

    /// Leaves the samples as they are and changes the alpha mode only.
    init(relabeling header: PixelRowHeader, _ alphaMode: AlphaMode) {
        let byteCount = header.bytesPerRow
        self.init(header.format, alphaMode) { row, _, out in out.copyMemory(from: row, byteCount: byteCount) }
    }

    /// Changes red, green, blue and alpha from 0 to 1, color not multiplied by alpha, whatever the image's format.
    ///
    /// - Parameters:
    ///   - header: The size and format of the image.
    ///   - format: The result's format; nil for the image's.
    ///   - alphaMode: The result's alpha mode; nil for the image's. Alpha of an opaque result is put to its maximum.
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

/// Applies a point operation to rows while they arrive.
private final class PointRows: PixelRowConsumer {
    private let makeOperation: (PixelRowHeader) throws(ImageProcessingError) -> PointOperation?
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var operation: PointOperation?
    private var result: RowMemory?
    private var y = 0

    /// - Parameter makeOperation: Returns the operation on images of this kind; nil when they stay as they are.
    init(
        _ makeOperation: @escaping (PixelRowHeader) throws(ImageProcessingError) -> PointOperation?,
        next: any PixelRowConsumer
    ) {
        self.makeOperation = makeOperation
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        var changed = header
        operation = try makeOperation(header)
        if let operation {
            changed.format = operation.format
            changed.alphaMode = operation.alphaMode
            result = RowMemory(byteCount: changed.bytesPerRow)
        }
        y = 0
        try next.begin(changed)
    }

    func consume(_ row: RawSpan) throws {
        guard let operation, let result else { return try next.consume(row) }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            operation.change(base, y, result.base)
        }
        y += 1
        try next.consume(result.buffer.bytes)
    }

    func finish() throws { try next.finish() }
}
