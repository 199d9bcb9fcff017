public import AlcedoCore

/// Makes a picture smaller or larger while its rows arrive, and hands the new rows on.
///
/// The pixels are those that ``Resize`` makes of the whole picture, to the bit, in every pixel format and alpha mode.
/// With a decoder in front and an encoder behind, no whole picture is ever in memory:
/// `decoder.decodeRows(data, options: options, into: RowResizer(to: size, next: encoder))`.
///
/// - Complexity: Time as ``Resize``. Memory is O(width × filter taps).
public final class RowResizer: PixelRowConsumer {
    private let resize: Resize
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var stage: RowResizerStage?

    /// - Parameters:
    ///   - target: In pixels of the rows, before orientation; ``begin(_:)`` throws `invalidParameter` when a side is
    ///     below one.
    ///   - mode: What to do when the proportions differ.
    ///   - enlarges: Whether a picture smaller than `target` grows.
    ///   - filter: How pixels are weighed.
    ///   - next: Takes the new rows.
    public convenience init(
        to target: PixelSize, mode: ResizeMode = .fit, enlarges: Bool = false, filter: ResizeFilter = .lanczos3,
        next: any PixelRowConsumer
    ) {
        self.init(Resize(to: target, mode: mode, enlarges: enlarges, filter: filter), next: next)
    }

    /// Does what `resize` does, while rows arrive.
    public init(_ resize: Resize, next: any PixelRowConsumer) {
        self.resize = resize
        self.next = next
    }

    /// - Throws: `ImageProcessingError` as ``Resize/process(_:)``, or what the next consumer throws.
    public func begin(_ header: PixelRowHeader) throws {
        var resized = header
        resized.size = try resize.checkedSize(for: header.size)
        try PixelLimits.checkRows(of: header)
        try PixelLimits.checkRows(of: resized)
        stage = resized.size == header.size ? nil : RowResizerStage(header, to: resized, sampling: resize.sampling)
        try next.begin(resized)
    }

    public func consume(_ row: RawSpan) throws {
        guard let stage else { return try next.consume(row) }
        try stage.consume(row, next: next)
    }

    public func finish() throws { try next.finish() }
}
