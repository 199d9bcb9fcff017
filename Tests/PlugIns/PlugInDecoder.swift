import AlcedoCore
import Foundation
import Synchronization

extension ImageFormat {
    static let plugIn = ImageFormat(rawValue: "plug-in")
}

/// A decoder of gray images: the letters `PLUG`, the width, the height, and the samples.
struct PlugInDecoder: ImageDecoding {
    /// An image of 3 x 2 pixels.
    static let file = Data("PLUG".utf8) + [3, 2, 0, 50, 100, 150, 200, 250]

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try PlugInReader([UInt8](data), limits)
    }

    func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding { PlugInPieces(options) }
}

/// A decoder of pieces that shows the rows that have arrived, in gray.
private final class PlugInPieces: IncrementalImageDecoding {
    private struct State {
        var file = Data()
        var reader: PlugInReader?
        var shownRowCount = 0
    }

    private let options: DecodingOptions
    private let state = Mutex(State())

    init(_ options: DecodingOptions) { self.options = options }

    var info: ImageInfo? { state.withLock { try? $0.reader?.info() } }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        state.withLock { state in
            state.file += bytes
            // The header may be incomplete. An invalid one is reported by `finish`.
            state.reader = try? PlugInReader([UInt8](state.file), options.limits)
        }
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        state.withLock { state in
            guard let reader = state.reader, reader.rowCount > state.shownRowCount, let pixels = reader.arrivedRows()
            else { return nil }
            state.shownRowCount = reader.rowCount
            return ImagePreview(image: DecodedImage(pixels: pixels, format: .plugIn), rowCount: reader.rowCount)
        }
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        try PlugInDecoder().decode(state.withLock { $0.file }, options: options)
    }
}

/// A reader that passes on each row when it is decoded.
private final class PlugInReader: ImageReading {
    private static let headerLength = 6

    private let file: [UInt8]
    let header: ImageHeader

    init(_ file: [UInt8], _ limits: DecodingLimits) throws(ImageDecodingError) {
        guard file.count >= Self.headerLength else { throw ImageDecodingError(.truncated, "the header is truncated") }
        guard file.starts(with: "PLUG".utf8) else { throw ImageDecodingError(.corrupt, "another format") }
        header = ImageHeader(format: .plugIn, size: PixelSize(width: Int(file[4]), height: Int(file[5])))
        guard header.size.width > 0, header.size.height > 0 else {
            throw ImageDecodingError(.corrupt, "the image has no pixels")
        }
        try limits.check(header.size, format: .gray8)
        self.file = file
    }

    /// The number of rows whose samples have arrived.
    var rowCount: Int { min(header.size.height, (file.count - Self.headerLength) / header.size.width) }

    /// Returns the rows that have arrived. The others are transparent black.
    func arrivedRows() -> PixelBuffer? {
        PixelBuffer(size: header.size, format: .rgba8, alphaMode: .straight) { memory, bytesPerRow in
            for index in 0..<rowCount * header.size.width {
                let (y, x) = index.quotientAndRemainder(dividingBy: header.size.width)
                let sample = file[Self.headerLength + index]
                for (channel, value) in [sample, sample, sample, 255].enumerated() {
                    memory[y * bytesPerRow + x * 4 + channel] = value
                }
            }
        }
    }

    func info() throws(ImageDecodingError) -> ImageInfo {
        ImageInfo(format: header.format, size: header.size, colorModel: .gray)
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let rows = try checkedRows(options)
        let pixels = PixelBuffer(size: rows.size, format: rows.format, alphaMode: .opaque) { memory, bytesPerRow in
            for y in 0..<rows.size.height {
                let row = row(y, rows)
                UnsafeMutableRawBufferPointer(rebasing: memory[(y * bytesPerRow)...]).copyBytes(from: row)
            }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "cannot allocate the pixels") }
        return DecodedImage(pixels: pixels, format: header.format)
    }

    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        let rows = try checkedRows(options)
        try consumer.begin(rows)
        for y in 0..<rows.size.height {
            let row = row(y, rows)
            try consumer.consume(row.span.bytes)
        }
        try consumer.finish()
        return nil
    }

    private func rowHeader(_ options: DecodingOptions) -> PixelRowHeader {
        PixelRowHeader(
            size: header.size, format: options.pixelFormat == .gray8 ? .gray8 : .rgba8, alphaMode: .opaque)
    }

    private func checkedRows(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelRowHeader {
        let rows = rowHeader(options)
        try options.limits.check(rows.size, format: rows.format)
        guard file.count >= Self.headerLength + rows.size.width * rows.size.height else {
            throw ImageDecodingError(.truncated, "the samples are truncated")
        }
        return rows
    }

    private func row(_ y: Int, _ rows: PixelRowHeader) -> [UInt8] {
        let start = Self.headerLength + y * rows.size.width
        let samples = file[start..<start + rows.size.width]
        return rows.format == .gray8 ? Array(samples) : samples.flatMap { [$0, $0, $0, 255] }
    }
}
