public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Rotates and mirrors the rows of the image so that they are upright according to its orientation, and sets the
    /// orientation to `up`.
    ///
    /// Decoders already do this by default. Works on every pixel format and keeps it. Processing throws `tooLarge` when
    /// there is no memory for the result, or when the result needs more than 1 GiB and more memory than the source.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer. Rows that are already upright are forwarded as they arrive. With the
    ///   orientation `upMirrored`, rows are mirrored as they arrive, which needs the memory of one row. For other
    ///   orientations, the rows are collected into a whole image.
    public static var orient: Self { Self(ImageProcessors.Orient()) }

    /// Mirrors the image: exchanges its left and right sides, or its top and bottom.
    ///
    /// Works on every pixel format and keeps it. Directions refer to the rows in memory, before
    /// ``/AlcedoCore/DecodedImage/orientation`` is applied. Put `.orient` first to mirror the displayed image.
    /// Processing throws `tooLarge` when there is no memory for the result.
    ///
    /// - Parameter axis: The two sides to exchange.
    /// - Complexity: O(*w* × *h*), one new buffer. With `leftAndRight`, rows are mirrored as they arrive; with
    ///   `topAndBottom`, they are collected into a whole image.
    public static func flip(_ axis: ImageProcessors.FlipAxis) -> Self { Self(ImageProcessors.Flip(axis)) }
}

extension ImageProcessors {
    /// The two sides that are exchanged when an image is mirrored.
    public enum FlipAxis: String, Sendable, Hashable, CaseIterable {
        /// Exchanges left and right.
        case leftAndRight
        /// Exchanges top and bottom.
        case topAndBottom
    }

    /// The processor of `.flip(_:)`.
    package struct Flip: FramewiseProcessing {
        private let axis: FlipAxis

        package init(_ axis: FlipAxis) { self.axis = axis }

        package var identifier: String { "flip:\(axis.rawValue)" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try image.oriented(from: axis == .leftAndRight ? .upMirrored : .downMirrored)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            switch axis {
            case .leftAndRight: RowMirror(next: next)
            case .topAndBottom: WholeImageStage(next: next) { try process($0) }
            }
        }
    }

    /// The processor of `.orient`.
    package struct Orient: FramewiseProcessing {
        package init() {}

        package var identifier: String { "orient" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            var result = try image.oriented(from: image.orientation)
            result.orientation = .up
            return result
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowOrienter(self, next: next) }
    }
}

extension DecodedImage {
    /// Returns a still image whose rows are made upright from the orientation `stored`. The image keeps the value of
    /// its own orientation.
    ///
    /// - Throws: `tooLarge` when the result exceeds both the limit of 1 GiB and the size of the source in bytes, or
    ///   when there is no memory for it. Row padding makes the result large when a single long row becomes a column.
    func oriented(from stored: ImageOrientation) throws(ImageProcessingError) -> DecodedImage {
        let size = stored.swapsSides ? size.transposed : size
        let sourceByteCount = PixelBuffer.byteCount(size: self.size, format: pixels.format) ?? 0
        let limit = max(PixelLimits.maximumOrientedByteCount, sourceByteCount)
        guard let byteCount = PixelBuffer.byteCount(size: size, format: pixels.format), byteCount <= limit else {
            throw ImageProcessingError(
                .tooLarge, "a result of \(size) pixels with row padding exceeds the limit of \(limit) bytes")
        }
        do {
            return still(try pixels.upright(from: stored))
        } catch {
            throw ImageProcessingError(.tooLarge, error.message)
        }
    }
}

/// A consumer that makes arriving rows upright. It selects the method when the header gives the orientation.
private final class RowOrienter: PixelRowConsumer {
    private let orient: any ImageProcessing
    private let next: any PixelRowConsumer
    private var consumer: any PixelRowConsumer

    /// Creates a consumer. `orient` is the processor that makes whole images upright.
    init(_ orient: any ImageProcessing, next: any PixelRowConsumer) {
        self.orient = orient
        self.next = next
        consumer = next
    }

    func begin(_ header: PixelRowHeader) throws {
        consumer = consumer(for: header.orientation)
        var header = header
        // A whole image is made upright by the processor, which needs its orientation.
        if header.orientation == .upMirrored { header.orientation = .up }
        try consumer.begin(header)
    }

    private func consumer(for orientation: ImageOrientation) -> any PixelRowConsumer {
        switch orientation {
        case .up: next
        case .upMirrored: RowMirror(next: next)
        case .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left:
            WholeImageStage(next: next) { [orient] in try orient.process($0) }
        }
    }

    func consume(_ row: RawSpan) throws { try consumer.consume(row) }

    func finish() throws { try consumer.finish() }

    func byteCount(for header: PixelRowHeader) -> Int {
        guard header.orientation != .up else { return next.byteCount(for: header) }
        let consumer = consumer(for: header.orientation)
        var upright = header
        if header.orientation.swapsSides { upright.size = header.size.transposed }
        // Row padding makes one of the two sizes take more bytes.
        return max(consumer.byteCount(for: header), consumer.byteCount(for: upright))
    }
}

/// A consumer that exchanges left and right of arriving rows.
private final class RowMirror: PixelRowConsumer {
    private let next: any PixelRowConsumer
    private var pixelBytes = 1
    private var width = 0
    private var mirrored: RowMemory?

    init(next: any PixelRowConsumer) { self.next = next }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        pixelBytes = header.format.bytesPerPixel
        width = header.size.width
        mirrored = RowMemory(byteCount: header.bytesPerRow)
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let mirrored else { return }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            for x in 0..<width {
                (mirrored.base + x * pixelBytes).copyMemory(
                    from: base + (width - 1 - x) * pixelBytes, byteCount: pixelBytes)
            }
        }
        try next.consume(mirrored.buffer.bytes)
    }

    func finish() throws { try next.finish() }

    func byteCount(for header: PixelRowHeader) -> Int {
        header.bytesPerRow.addingClamped(next.byteCount(for: header))
    }
}
