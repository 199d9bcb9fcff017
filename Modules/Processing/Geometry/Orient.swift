public import AlcedoCore

extension ImageProcessors {
    /// Makes the rows of an image upright, as its orientation says; the orientation is then `up`.
    ///
    /// Decoders do so already unless they are asked not to. Works on every pixel format and keeps it. Processing throws
    /// `tooLarge` when no memory, or more than a gibibyte, would hold the result.
    ///
    /// - Complexity: O(*w* × *h*), one new buffer. Rows that are upright or mirrored pass with the memory of one;
    ///   others are collected.
    public struct Orient: FramewiseProcessing, Hashable {
        package init() {}

        public var identifier: String { "orient" }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            var result = try image.turned(from: image.orientation)
            result.orientation = .up
            return result
        }

        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { RowOrienter(self, next: next) }
    }
}

extension ImageProcessing where Self == ImageProcessors.Orient {
    /// Makes the rows of the image upright, as its orientation says.
    public static var orient: Self { Self() }
}

extension DecodedImage {
    /// A still picture of the rows made upright from `stored`.
    ///
    /// - Throws: `tooLarge` when the padding of its rows would take all memory, as of a line of pixels that is set upright.
    func turned(from stored: ImageOrientation) throws(ImageProcessingError) -> DecodedImage {
        let size = stored.swapsSides ? size.transposed : size
        let own = PixelBuffer.byteCount(size: self.size, format: pixels.format) ?? 0
        guard let byteCount = PixelBuffer.byteCount(size: size, format: pixels.format),
            byteCount <= max(PixelLimits.mostTurnedBytes, own)
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
    private var way: any PixelRowConsumer

    /// - Parameter orient: Does it for whole pictures.
    init(_ orient: any ImageProcessing, next: any PixelRowConsumer) {
        self.orient = orient
        self.next = next
        way = next
    }

    func begin(_ header: PixelRowHeader) throws {
        var upright = header
        upright.orientation = .up
        switch header.orientation {
        case .up:
            way = next
            try way.begin(header)
        case .upMirrored:
            way = RowMirror(next: next)
            try way.begin(upright)
        case .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left:
            way = WholePictureStage(next: next) { [orient] in try orient.process($0) }
            try way.begin(header)
        }
    }

    func consume(_ row: RawSpan) throws { try way.consume(row) }

    func finish() throws { try way.finish() }
}

/// Exchanges left and right of arriving rows.
final class RowMirror: PixelRowConsumer {
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
