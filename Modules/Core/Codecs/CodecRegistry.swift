public import FoundationEssentials

/// The formats an app reads, in order of preference. A value: adding a format makes another registry.
public struct CodecRegistry: Sendable {
    /// One format: how it is recognised and who decodes it.
    public struct Entry: Sendable {
        public var format: ImageFormat
        public var decoder: any ImageDecoding
        /// Whether bytes that begin like this are of the format. Gets at most ``CodecRegistry/sniffedByteCount`` bytes.
        public var recognises: @Sendable (_ prefix: RawSpan) -> Bool

        public init(
            format: ImageFormat,
            decoder: any ImageDecoding,
            recognises: @escaping @Sendable (_ prefix: RawSpan) -> Bool
        ) {
            self.format = format
            self.decoder = decoder
            self.recognises = recognises
        }
    }

    /// Bytes that a format may look at to recognise itself.
    public static let sniffedByteCount = 64

    public var entries: [Entry]

    public init(_ entries: [Entry]) { self.entries = entries }

    /// The first entry that recognises the content; names and content types do not count.
    public func entry(for data: Data) -> Entry? {
        let bytes = data.bytes
        let prefix = bytes.extracting(first: Self.sniffedByteCount)
        for entry in entries where entry.recognises(prefix) { return entry }
        return nil
    }

    /// Reads the header of an image in any of the formats. Throws ``ImageDecodingError``.
    public func inspect(
        _ data: Data, limits: DecodingLimits = DecodingLimits()
    ) throws(ImageDecodingError) -> ImageInfo {
        try requireEntry(for: data).decoder.inspect(data, limits: limits)
    }

    /// Decodes an image in any of the formats. Throws ``ImageDecodingError``. Blocks.
    public func decode(
        _ data: Data, options: DecodingOptions = DecodingOptions()
    ) throws(ImageDecodingError) -> DecodedImage {
        try requireEntry(for: data).decoder.decode(data, options: options)
    }

    /// Decodes an image in any of the formats row by row. Throws ``ImageDecodingError``, or what the consumer throws.
    /// Blocks.
    public func decodeRows(
        _ data: Data, options: DecodingOptions = DecodingOptions(), into consumer: any PixelRowConsumer
    ) throws {
        try requireEntry(for: data).decoder.decodeRows(data, options: options, into: consumer)
    }

    /// Makes a decoder that finds out the format from the first bytes it is given.
    public func makeIncrementalDecoder(options: DecodingOptions = DecodingOptions()) -> any IncrementalImageDecoding {
        IncrementalDecoder(
            SniffingState(neededByteCount: Self.sniffedByteCount) { (head) throws(ImageDecodingError) in
                try requireEntry(for: head).decoder.makeIncrementalDecoder(options: options)
            })
    }

    /// The most bytes that decoding will hold at once. Throws ``ImageDecodingError``.
    public func decodingByteCount(
        _ data: Data, options: DecodingOptions = DecodingOptions()
    ) throws(ImageDecodingError) -> Int {
        try requireEntry(for: data).decoder.decodingByteCount(data, options: options)
    }

    private func requireEntry(for data: Data) throws(ImageDecodingError) -> Entry {
        if let entry = entry(for: data) { return entry }
        throw unknownFormat(data)
    }

    private func unknownFormat(_ data: Data) -> ImageDecodingError {
        guard !data.isEmpty else { return ImageDecodingError(.empty, "there are no bytes") }
        let known = entries.map(\.format.rawValue).joined(separator: ", ")
        let guess = data.looksLikeText ? "the bytes are text, perhaps a web page" : "the bytes are in no known format"
        return ImageDecodingError(.unknownFormat, "\(guess) (known: \(known))")
    }
}
