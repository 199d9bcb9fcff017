import AlcedoHTTP
public import FoundationEssentials

/// The formats that an app reads and writes, in order of preference.
///
/// A registry is a value: ``adding(_:)`` makes another one.
///
/// ```swift
/// let codecs = CodecRegistry.standard.adding(.grayMap)
/// let image = try codecs.decode(data)
/// ```
public struct CodecRegistry: Sendable {
    /// One format: how it is recognized and decoded.
    public struct Entry: Sendable {
        /// The format's name.
        public var format: ImageFormat
        /// Decodes it.
        public var decoder: any ImageDecoding
        /// Whether bytes that begin like this are of the format. Gets at most ``sniffedByteCount`` bytes.
        package var recognizes: @Sendable (_ prefix: RawSpan) -> Bool
        /// What files of the format begin with, where that is all there is to recognise. Tells a file that ends inside
        /// it from one of an unknown format, and lets a decoder of pieces begin early.
        package var signatures: [[UInt8?]]
        /// Makes an encoder of the format, for a quality from 0 to 1, which is the best the format can do; nil when nobody
        /// writes it. A format without loss need not heed the quality.
        package var makeEncoder: (@Sendable (_ quality: Double) -> any ImageEncoding)?

        /// Creates an entry for a format that is recognized by what its files begin with.
        ///
        /// - Parameters:
        ///   - format: The format's name.
        ///   - decoder: Decodes the format.
        ///   - signatures: The bytes that files of the format begin with; nil stands for any byte. They tell a file that ends
        ///     inside them from one of an unknown format, and let incremental decoding begin early. Default: none.
        ///   - recognizes: Whether a file with this beginning, of at most 64 bytes, is of the format. nil compares the
        ///     signatures. Default: nil.
        ///   - makeEncoder: Makes an encoder of the format for a quality from 0 to 1, which is the best that the format
        ///     allows. A lossless format may ignore the quality. nil when the format cannot be written. Default: nil.
        public init(
            format: ImageFormat,
            decoder: any ImageDecoding,
            signatures: [[UInt8?]] = [],
            recognizes: (@Sendable (_ prefix: RawSpan) -> Bool)? = nil,
            makeEncoder: (@Sendable (_ quality: Double) -> any ImageEncoding)? = nil
        ) {
            self.format = format
            self.decoder = decoder
            self.signatures = signatures
            self.makeEncoder = makeEncoder
            self.recognizes =
                recognizes ?? { prefix in signatures.contains { SignatureMatch($0, prefix) == .complete } }
        }
    }

    /// Bytes that a format may look at to recognise itself.
    package static let sniffedByteCount = 64

    /// The formats, in the order in which they are asked.
    public let entries: [Entry]

    /// A registry of these formats: the first that recognises a content decodes it.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// Returns a registry with one more codec.
    ///
    /// The codec replaces those of the same format, in the place of the first of them. A codec of a new format comes last:
    /// it decodes what no other recognizes.
    public func adding(_ entry: Entry) -> CodecRegistry {
        var entries = entries
        // The entries before the first of the same format all stay, so its index is the same without the others.
        let index = entries.firstIndex { $0.format == entry.format }
        entries.removeAll { $0.format == entry.format }
        entries.insert(entry, at: index ?? entries.count)
        return CodecRegistry(entries)
    }

    /// The first entry that recognises the content; names and content types do not count.
    package func entry(for data: Data) -> Entry? {
        let bytes = data.bytes
        let prefix = bytes.extracting(first: Self.sniffedByteCount)
        for entry in entries where entry.recognizes(prefix) { return entry }
        return nil
    }

    /// The entry for a file that begins like this; nil while the first bytes that follow may still decide for another.
    private func settledEntry(for head: Data) -> Entry? {
        guard head.count < Self.sniffedByteCount else { return entry(for: head) }
        let bytes = head.bytes
        for entry in entries {
            if entry.recognizes(bytes) { return entry }
            // Without signatures nobody knows what more bytes would bring.
            if entry.signatures.isEmpty || entry.mayBegin(bytes) { return nil }
        }
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
    package func makeIncrementalDecoder(options: DecodingOptions = DecodingOptions()) -> any IncrementalImageDecoding {
        IncrementalDecoder(
            SniffingState { (head, isEnd) throws(ImageDecodingError) in
                if let entry = settledEntry(for: head) { return entry.decoder.makeIncrementalDecoder(options: options) }
                guard isEnd || head.count >= Self.sniffedByteCount else { return nil }
                return try requireEntry(for: head).decoder.makeIncrementalDecoder(options: options)
            })
    }

    /// The most bytes that decoding will hold at once. Throws ``ImageDecodingError``.
    package func decodingByteCount(
        _ data: Data, options: DecodingOptions = DecodingOptions()
    ) throws(ImageDecodingError) -> Int {
        try requireEntry(for: data).decoder.decodingByteCount(data, options: options)
    }

    /// Makes an encoder of a format; nil when no entry writes it.
    ///
    /// - Parameters:
    ///   - format: The format to write.
    ///   - quality: From 0 to 1; values outside count as the nearest, what is no number as 0. Default: 1.
    public func encoder(for format: ImageFormat, quality: Double = 1) -> (any ImageEncoding)? {
        let make = entries.lazy.filter { $0.format == format }.compactMap(\.makeEncoder).first
        return make?(quality > 0 ? min(quality, 1) : 0)
    }

    /// The value of an `Accept` field for these formats: their media types in order, then any image, then anything.
    ///
    /// Source: RFC 9110 section 12.5.1. Names that cannot stand in a media type are left out.
    package var acceptFieldValue: String {
        let types = entries.map(\.format).filter(\.rawValue.isToken).map(\.mediaType)
        return (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ",")
    }

    private func requireEntry(for data: Data) throws(ImageDecodingError) -> Entry {
        if let entry = entry(for: data) { return entry }
        throw unknownFormat(data)
    }

    private func unknownFormat(_ data: Data) -> ImageDecodingError {
        guard !data.isEmpty else { return ImageDecodingError(.empty, "there are no bytes") }
        if let entry = entries.first(where: { $0.mayBegin(data.bytes) }) {
            return ImageDecodingError(.truncated, "the bytes end where a file of format \(entry.format) begins")
        }
        let known = entries.map(\.format.rawValue).joined(separator: ", ")
        let guess = data.looksLikeText ? "the bytes are text, perhaps a web page" : "the bytes are in no known format"
        return ImageDecodingError(.unknownFormat, "\(guess) (known: \(known))")
    }
}

extension CodecRegistry.Entry {
    /// Whether the bytes are the beginning of one of the signatures, and no more.
    fileprivate func mayBegin(_ bytes: RawSpan) -> Bool {
        signatures.contains { SignatureMatch($0, bytes) == .partial }
    }
}

/// How the beginning of a file compares with a signature.
private enum SignatureMatch {
    case complete
    /// As far as the bytes reach.
    case partial
    case none

    init(_ signature: [UInt8?], _ prefix: RawSpan) {
        for (index, byte) in signature.enumerated() {
            guard index < prefix.byteCount else {
                self = .partial
                return
            }
            if let byte, prefix.unsafeLoad(fromByteOffset: index, as: UInt8.self) != byte {
                self = .none
                return
            }
        }
        self = .complete
    }
}

private extension Data {
    /// Whether the content begins with a markup tag or a JSON object, after a byte order mark and white space.
    var looksLikeText: Bool {
        let skipped: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
        let head = prefix(CodecRegistry.sniffedByteCount).drop { skipped.contains($0) }
        return head.first == UInt8(ascii: "<") || head.first == UInt8(ascii: "{")
    }
}

/// Waits for as many bytes as show the format, then decodes by the decoder that is found for them.
private final class SniffingState: IncrementalDecodingState {
    private let makeDecoder: (_ head: Data, _ isEnd: Bool) throws(ImageDecodingError) -> (any IncrementalImageDecoding)?
    private var head = Data()
    private var decoder: (any IncrementalImageDecoding)?

    /// - Parameter makeDecoder: Returns nil when more bytes are needed, which at the end there are not; throws when no
    ///   format is known that begins like this.
    init(
        makeDecoder:
            @escaping (_ head: Data, _ isEnd: Bool) throws(ImageDecodingError) -> (
                any IncrementalImageDecoding
            )?
    ) {
        self.makeDecoder = makeDecoder
    }

    var info: ImageInfo? { decoder?.info }

    var decodingByteCount: Int? { decoder?.decodingByteCount }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if let decoder { return try decoder.append(bytes) }
        head.append(bytes)
        try begin(isEnd: false)
    }

    private func begin(isEnd: Bool) throws(ImageDecodingError) {
        guard let decoder = try makeDecoder(head, isEnd) else { return }
        self.decoder = decoder
        try decoder.append(head)
        head = Data()
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? { try decoder?.preview() }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        if decoder == nil { try begin(isEnd: true) }
        guard let decoder else { throw ImageDecodingError(.unknownFormat, "the bytes are in no known format") }
        return try decoder.finish()
    }
}
