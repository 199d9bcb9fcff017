public import AlcedoCore

/// A processor whose result pixels depend only on the pixel at the same position.
///
/// The image keeps its size, and the operation is the same on a whole image and on arriving rows:
///
/// ```swift
/// struct Inverted: PointProcessing {
///     var identifier: String { "inverted" }
///
///     func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
///         PointOperation(on: header) { pixels, _ in
///             for x in pixels.indices {
///                 let pixel = pixels[x]
///                 pixels[x] = SIMD4(1 - pixel.x, 1 - pixel.y, 1 - pixel.z, pixel.w)
///             }
///         }
///     }
/// }
/// ```
public protocol PointProcessing: ImageProcessing {
    /// Returns the operation on images with this header, or `nil` when their pixels do not change.
    ///
    /// - Throws: `invalidParameter` for invalid parameters.
    func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation?
}

extension PointProcessing {
    /// Processes the image row by row into one new buffer. The color profile, scale and orientation are kept. Every
    /// frame of an animation is processed when it is requested.
    ///
    /// - Throws: The errors of ``operation(on:)``; `tooLarge` when there is no memory for the result.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        try image.processingRows(operation)
    }

    /// Returns a consumer that processes rows as they arrive. It needs the memory of two rows.
    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { PointRows(operation, next: next) }
}

extension DecodedImage {
    /// Returns the image processed row by row with the operation that `makeOperation` returns for the header of each
    /// frame.
    func processingRows(
        _ makeOperation: @escaping @Sendable (PixelRowHeader) throws(ImageProcessingError) -> PointOperation?
    ) throws(ImageProcessingError) -> DecodedImage {
        try processingFrames { still throws(ImageProcessingError) in
            try still.processed(by: makeOperation(still.rowHeader))
        }
    }

    private func processed(by operation: PointOperation?) throws(ImageProcessingError) -> DecodedImage {
        guard let operation else { return still(pixels) }
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
        return still(result)
    }
}

/// The operation of a ``PointProcessing`` on the rows of one image. Only one thread may use it at a time.
public struct PointOperation {
    /// The pixel format of the result.
    let format: PixelFormat
    let alphaMode: AlphaMode
    /// The function that writes row `y` of the result to `out`, given row `y` of the image, which needs no alignment.
    let change: (_ row: UnsafeRawPointer, _ y: Int, _ out: UnsafeMutableRawPointer) -> Void

    init(
        _ format: PixelFormat, _ alphaMode: AlphaMode,
        change: @escaping (_ row: UnsafeRawPointer, _ y: Int, _ out: UnsafeMutableRawPointer) -> Void
    ) {
        self.format = format
        self.alphaMode = alphaMode
        self.change = change
    }

    /// Creates an operation that copies the samples and changes only the alpha mode.
    init(relabeling header: PixelRowHeader, _ alphaMode: AlphaMode) {
        let byteCount = header.bytesPerRow
        self.init(header.format, alphaMode) { row, _, out in out.copyMemory(from: row, byteCount: byteCount) }
    }

    /// Creates an operation on pixels of any format, which `change` receives as red, green, blue and alpha from 0 to 1,
    /// with color not multiplied by alpha.
    ///
    /// - Parameters:
    ///   - header: The size and format of the image.
    ///   - format: The pixel format of the result, or `nil` to keep the image's format. Default: `nil`.
    ///   - alphaMode: The alpha mode of the result, or `nil` to keep the image's alpha mode. Default: `nil`. The alpha
    ///     of an opaque result is set to its maximum.
    ///   - change: Changes the pixels of row `y`. Samples outside 0 to 1 are clamped.
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

/// A consumer that applies a point operation to rows as they arrive.
final class PointRows: PixelRowConsumer {
    private let makeOperation: (PixelRowHeader) throws(ImageProcessingError) -> PointOperation?
    private let operationByteCount: (PixelRowHeader) -> Int
    private let next: any PixelRowConsumer
    /// The operation, or `nil` when rows are forwarded unchanged.
    private var operation: PointOperation?
    private var result: RowMemory?
    private var y = 0

    /// Creates a consumer.
    ///
    /// - Parameters:
    ///   - makeOperation: Returns the operation for a header, or `nil` when the rows do not change.
    ///   - byteCount: Returns the bytes that the operation holds in addition to two rows. Default: none.
    ///   - next: The consumer of the changed rows.
    init(
        _ makeOperation: @escaping (PixelRowHeader) throws(ImageProcessingError) -> PointOperation?,
        byteCount: @escaping (PixelRowHeader) -> Int = { _ in 0 }, next: any PixelRowConsumer
    ) {
        self.makeOperation = makeOperation
        operationByteCount = byteCount
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

    /// Returns the bytes of the operation, of a row of floats and of a result row, which the operation may give another
    /// format.
    func byteCount(for header: PixelRowHeader) -> Int {
        var changed = header
        changed.format = header.format.isDeep ? .rgba16 : .rgba8
        let pixels = header.size.width * MemoryLayout<SIMD4<Float>>.stride
        return operationByteCount(header).addingClamped(pixels).addingClamped(changed.bytesPerRow)
            .addingClamped(next.byteCount(for: changed))
    }
}
