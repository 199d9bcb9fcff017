import FoundationEssentials

extension PixelBuffer {
    /// Converts all rows in place. Copies the pixels first when another buffer shares them.
    mutating func convertRows(_ convert: RowConversion) {
        let (used, stride, rows) = (usedBytesPerRow, bytesPerRow, height)
        withUnsafeMutableBytes { memory in
            for y in 0..<rows {
                convert(UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<y * stride + used]))
            }
        }
    }
}

/// The frames of an animation, converted when they are requested. Keeps no pixels of its own.
final class ColorConvertedFrames: DerivedFrameSource {
    let source: any ImageFrameSource
    private let profile: Data?
    private let space: OutputColorSpace
    private let converter: any ColorConverting

    init(
        source: any ImageFrameSource, profile: Data?, space: OutputColorSpace, converter: any ColorConverting
    ) {
        self.source = source
        self.profile = profile
        self.space = space
        self.converter = converter
    }

    func frame(at index: Int) throws -> PixelBuffer {
        var pixels = try source.frame(at: index)
        let header = PixelRowHeader(
            size: pixels.size, format: pixels.format, alphaMode: pixels.alphaMode, colorProfile: profile)
        if let convert = ColorConversionPlan(header, to: space, by: converter).convert { pixels.convertRows(convert) }
        return pixels
    }
}

/// A consumer that converts rows and passes them on. Memory: one row.
package final class ColorConvertedRows: PixelRowConsumer {
    private let space: OutputColorSpace
    private let range: DynamicRange
    private let converter: any ColorConverting
    private let next: any PixelRowConsumer
    private var convert: RowConversion?
    private var output: [UInt8] = []
    /// The error of a profile that was ignored, or nil.
    package private(set) var error: ColorConversionError?
    /// Whether the samples of the rows change.
    package var isConverting: Bool { convert != nil }

    package init(
        to space: OutputColorSpace, range: DynamicRange = .standard, by converter: any ColorConverting,
        next: any PixelRowConsumer
    ) {
        self.space = space
        self.range = range
        self.converter = converter
        self.next = next
    }

    package func begin(_ header: PixelRowHeader) throws {
        let plan = ColorConversionPlan(header, to: space, range: range, by: converter)
        (convert, error) = (plan.convert, plan.error)
        output = Array(repeating: 0, count: convert == nil ? 0 : header.bytesPerRow)
        try next.begin(plan.header)
    }

    package func consume(_ row: RawSpan) throws {
        guard let convert else { return try next.consume(row) }
        try output.withUnsafeMutableBytes { output in
            row.withUnsafeBytes { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(output.count))) }
            convert(output)
            try next.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(output)))
        }
    }

    package func finish() throws { try next.finish() }

    /// Returns the bytes of a converted row. The color profile, and with it whether rows are converted, is not known
    /// yet.
    package func byteCount(for header: PixelRowHeader) -> Int {
        header.bytesPerRow.addingClamped(next.byteCount(for: header))
    }
}
