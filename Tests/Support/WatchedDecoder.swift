package import AlcedoCore
package import AlcedoTesting
package import FoundationEssentials

/// A decoder that passes everything on to another one, and records its calls.
package struct WatchedDecoder: ImageDecoding {
    /// The calls of the decoder and of its readers.
    package struct Calls: Sendable {
        package var opens = 0
        /// The options of each decode, also of those that pass on rows.
        package var decodes: [DecodingOptions] = []
        /// The number of rows that were passed on.
        package var rows = 0
    }

    private let decoder: any ImageDecoding
    private let onRow: @Sendable () -> Void
    package let calls = Watched(Calls())

    /// - Parameters:
    ///   - decoder: The decoder that decodes.
    ///   - onRow: A closure that is called before each row that is passed on. Default: does nothing.
    package init(_ decoder: any ImageDecoding, onRow: @escaping @Sendable () -> Void = {}) {
        (self.decoder, self.onRow) = (decoder, onRow)
    }

    /// A registry in which this decoder decodes a format.
    package func codecs(for format: ImageFormat, signature: [UInt8?]) -> CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: format, decoder: self, signatures: [signature])])
    }

    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        calls.update { $0.opens += 1 }
        return Reader(try decoder.open(data, limits: limits), self)
    }

    private final class Reader: ImageReading {
        private let reader: any ImageReading
        private let watched: WatchedDecoder

        init(_ reader: any ImageReading, _ watched: WatchedDecoder) {
            (self.reader, self.watched) = (reader, watched)
        }

        var header: ImageHeader { reader.header }

        func info() throws(ImageDecodingError) -> ImageInfo { try reader.info() }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try reader.decodingByteCount(options)
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            watched.calls.update { $0.decodes.append(options) }
            return try reader.decode(options)
        }

        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            watched.calls.update { $0.decodes.append(options) }
            return try reader.decodeRows(options, into: WatchedRows(watched, next: consumer))
        }
    }

    private final class WatchedRows: PixelRowConsumer {
        private let watched: WatchedDecoder
        private let next: any PixelRowConsumer

        init(_ watched: WatchedDecoder, next: any PixelRowConsumer) { (self.watched, self.next) = (watched, next) }

        func begin(_ header: PixelRowHeader) throws { try next.begin(header) }

        func consume(_ row: RawSpan) throws {
            watched.onRow()
            try next.consume(row)
            watched.calls.update { $0.rows += 1 }
        }

        func finish() throws { try next.finish() }

        func byteCount(for header: PixelRowHeader) -> Int { next.byteCount(for: header) }
    }
}
