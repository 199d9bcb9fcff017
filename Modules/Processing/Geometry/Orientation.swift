public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Makes the rows of the image upright, as its orientation says; the orientation is then `up`.
    ///
    /// Decoders do so already unless the options say otherwise. Works on every pixel format and keeps it. Processing throws
    /// `tooLarge` when no memory, or more than a gibibyte, would hold the result.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer. Rows that are upright or mirrored pass with the memory of one; others are
    ///   collected.
    public static var orient: Self { Self(ImageProcessors.Orient()) }

    /// Mirrors the image, so that the sides of `axis` change places.
    ///
    /// Works on every pixel format and keeps it. Directions are those of the rows in memory, that is before
    /// ``/AlcedoCore/DecodedImage/orientation``; put `.orient` in front where they differ.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer. Rows are mirrored one by one when left and right change places, and
    ///   collected when top and bottom do.
    public static func flip(_ axis: ImageProcessors.FlipAxis) -> Self { Self(ImageProcessors.Flip(axis)) }
}

extension ImageProcessors {
    /// The sides that change places when an image is mirrored.
    public enum FlipAxis: String, Sendable, Hashable, CaseIterable {
        /// Left and right change places.
        case leftAndRight
        /// Top and bottom change places.
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
    /// A still picture of the rows made upright from `stored`.
    ///
    /// - Throws: `tooLarge` when the padding of its rows would take all memory, as of a line of pixels that is set upright.
    func oriented(from stored: ImageOrientation) throws(ImageProcessingError) -> DecodedImage {
        let size = stored.swapsSides ? size.transposed : size
        let own = PixelBuffer.byteCount(size: self.size, format: pixels.format) ?? 0
        guard let byteCount = PixelBuffer.byteCount(size: size, format: pixels.format),
            byteCount <= max(PixelLimits.maximumOrientedByteCount, own)
        else { throw ImageProcessingError(.tooLarge, "a result of \(size) pixels is too large") }
        do {
            return still(try pixels.upright(from: stored))
        } catch {
            throw ImageProcessingError(.tooLarge, error.message)
        }
    }
}

/// Makes arriving rows upright, once it is known how they lie.
private final class RowOrienter: PixelRowConsumer {
    private let orient: any ImageProcessing
    private let next: any PixelRowConsumer
    private var consumer: any PixelRowConsumer

    /// - Parameter orient: Does it for whole pictures.
    init(_ orient: any ImageProcessing, next: any PixelRowConsumer) {
        self.orient = orient
        self.next = next
        consumer = next
    }

    func begin(_ header: PixelRowHeader) throws {
        var upright = header
        upright.orientation = .up
        switch header.orientation {
        case .up:
            consumer = next
            try consumer.begin(header)
        case .upMirrored:
            consumer = RowMirror(next: next)
            try consumer.begin(upright)
        case .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left:
            consumer = WholeImageStage(next: next) { [orient] in try orient.process($0) }
            try consumer.begin(header)
        }
    }

    func consume(_ row: RawSpan) throws { try consumer.consume(row) }

    func finish() throws { try consumer.finish() }
}

/// Exchanges left and right of arriving rows.
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
}
