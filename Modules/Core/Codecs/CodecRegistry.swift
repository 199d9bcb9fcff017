import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// The formats that an app decodes and encodes, in order of preference.
///
/// ```swift
/// let codecs = CodecRegistry([.png, .jpeg]).adding(.webp)
/// let image = try codecs.decode(data)
/// ```
///
/// A registry is an immutable value. To add a format or to replace a codec, use ``adding(_:)``, which returns a new
/// registry.
public struct CodecRegistry: ImageDecoding {
    /// A format with its recognition rule, its decoder and, if the format can be written, its encoder.
    public struct Entry: Sendable {
        /// The format's name.
        public var format: ImageFormat
        /// The decoder of the format.
        public var decoder: any ImageDecoding
        /// Whether a file that begins with `prefix` has this format. The registry passes at most 64 bytes.
        public var recognizes: @Sendable (_ prefix: RawSpan) -> Bool
        /// The byte sequences that files of the format begin with; nil stands for any byte.
        ///
        /// Empty for a format that is not recognized by a fixed beginning. The registry uses signatures to tell a
        /// truncated file from a file of an unknown format, and to start incremental decoding early.
        public var signatures: [[UInt8?]]
        /// A closure that creates an encoder of the format for a quality from 0 to 1, where 1 is the best quality that
        /// the format allows; nil when the format cannot be written. A lossless format may ignore the quality.
        public var makeEncoder: (@Sendable (_ quality: Double) -> any ImageEncoding)?
        /// The decoder that pipelines await in place of ``decoder``, such as that of a service. All other callers use
        /// ``decoder``. Default: nil.
        public var asyncDecoder: (any AsyncImageDecoding)?
        /// A closure that creates an encoder of the format, as ``makeEncoder`` does, that pipelines await when they
        /// write images to the disk cache. Default: nil.
        public var makeAsyncEncoder: (@Sendable (_ quality: Double) -> any AsyncImageEncoding)?

        /// Creates an entry for a format that is recognized by the first bytes of a file.
        ///
        /// - Parameters:
        ///   - format: The format's name.
        ///   - decoder: The decoder of the format.
        ///   - signatures: The byte sequences that files of the format begin with; nil stands for any byte. The
        ///     registry uses them to tell a truncated file from a file of an unknown format, and to start incremental
        ///     decoding early. Default: none.
        ///   - recognizes: A closure that receives the first bytes of a file, at most 64, and returns whether the file
        ///     has the format. With nil, a file has the format when it begins with one of the signatures. Default: nil.
        ///   - makeEncoder: A closure that creates an encoder of the format for a quality from 0 to 1, where 1 is the
        ///     best quality that the format allows. A lossless format may ignore the quality. Pass nil when the format
        ///     cannot be written. Default: nil.
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

    /// The maximum number of leading bytes that a format may examine to recognize a file.
    package static let sniffedByteCount = 64

    /// The entries, in order of preference.
    public let entries: [Entry]
    /// Whether an entry has an asynchronous decoder or encoder. Stored, because each decode asks for it.
    package let hasAsyncCodecs: Bool

    /// Creates a registry. The first entry that recognizes a file decodes it.
    public init(_ entries: [Entry]) {
        self.entries = entries
        hasAsyncCodecs = entries.contains { $0.asyncDecoder != nil || $0.makeAsyncEncoder != nil }
    }

    /// Returns a registry with an additional codec.
    ///
    /// The codec replaces all entries of the same format and takes the place of the first of them. A codec of a new
    /// format is appended, so it decodes only files that no other entry recognizes.
    public func adding(_ entry: Entry) -> CodecRegistry {
        var entries = entries
        // All entries before the first one of the same format stay, so its index is still valid after the removal.
        let index = entries.firstIndex { $0.format == entry.format }
        entries.removeAll { $0.format == entry.format }
        entries.insert(entry, at: index ?? entries.count)
        return CodecRegistry(entries)
    }

    /// Returns the first entry that recognizes the content, or nil when none does. File names and content types are
    /// ignored.
    package func entry(for data: Data) -> Entry? {
        let bytes = data.bytes
        let prefix = bytes.extracting(first: Self.sniffedByteCount)
        for entry in entries where entry.recognizes(prefix) { return entry }
        return nil
    }

    /// Returns the entry for a file that begins with `head`, or nil when no entry recognizes `head` or when more bytes
    /// could select an earlier entry.
    private func settledEntry(for head: Data) -> Entry? {
        guard head.count < Self.sniffedByteCount else { return entry(for: head) }
        let bytes = head.bytes
        for entry in entries {
            if entry.recognizes(bytes) { return entry }
            // Without signatures, it is unknown whether more bytes would match this entry.
            if entry.signatures.isEmpty || entry.mayBegin(bytes) { return nil }
        }
        return nil
    }

    /// Opens an image in any of the formats. Blocks while it reads the header.
    ///
    /// ```swift
    /// let reader = try CodecRegistry.standard.open(data)
    /// print(reader.header.size)
    /// ```
    ///
    /// Throws ``ImageDecodingError`` when the data is empty, no codec recognizes it, or its codec cannot open it. So do
    /// `inspect`, `decode` and `decodeRows`, which open the image.
    public func open(
        _ data: Data, limits: DecodingLimits = DecodingLimits()
    ) throws(ImageDecodingError) -> any ImageReading {
        try requireEntry(for: data).decoder.open(data, limits: limits)
    }

    /// Opens a page of an image, as ``open(_:limits:)`` does. The page has no effect on a format without pages.
    package func open(
        _ data: Data, page: Int, limits: DecodingLimits
    ) throws(ImageDecodingError) -> any ImageReading {
        try requireEntry(for: data).decoder.selecting(page: page).open(data, limits: limits)
    }

    /// Returns a decoder that detects the format from the first bytes that are appended.
    public func makeIncrementalDecoder(options: DecodingOptions = DecodingOptions()) -> any IncrementalImageDecoding {
        IncrementalDecoder(
            SniffingState { (head, isEnd) throws(ImageDecodingError) in
                if let entry = settledEntry(for: head) { return entry.decoder.makeIncrementalDecoder(options: options) }
                guard isEnd || head.count >= Self.sniffedByteCount else { return nil }
                return try requireEntry(for: head).decoder.makeIncrementalDecoder(options: options)
            })
    }

    /// Returns an encoder for a format, or nil when no entry can write the format.
    ///
    /// The encoders of this package have their default settings, except for the quality. In particular, those of
    /// animations write a delay of at most 10 ms from GIF or APNG as 100 ms.
    ///
    /// - Parameters:
    ///   - format: The format to write.
    ///   - quality: The quality from 0 to 1. Values outside this range are clamped; NaN counts as 0. Default: 1.
    public func encoder(for format: ImageFormat, quality: Double = 1) -> (any ImageEncoding)? {
        let make = entries.lazy.filter { $0.format == format }.compactMap(\.makeEncoder).first
        return make?(quality > 0 ? min(quality, 1) : 0)
    }

    /// The value of the `Accept` field for these formats: their media types in order of preference, then `image/*` and
    /// `*/*` with lower weights.
    ///
    /// Formats whose names are not valid tokens are left out. Source: RFC 9110, section 12.5.1.
    public var acceptFieldValue: String {
        let types = entries.map(\.format).filter(\.rawValue.isToken).map(\.mediaType)
        return (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ",")
    }

    private func requireEntry(for data: Data) throws(ImageDecodingError) -> Entry {
        if let entry = entry(for: data) { return entry }
        throw unknownFormat(data)
    }

    private func unknownFormat(_ data: Data) -> ImageDecodingError {
        guard !data.isEmpty else { return ImageDecodingError(.empty, "cannot decode the data: it is empty") }
        if let entry = entries.first(where: { $0.mayBegin(data.bytes) }) {
            return ImageDecodingError(.truncated, "the data ends within the signature of \(entry.format)")
        }
        let known = entries.map(\.format.rawValue).joined(separator: ", ")
        let advice = "add its codec to the CodecRegistry"
        let hint =
            ForeignFormat.name(of: data).map { "the data is \($0); \(advice)" }
            ?? (data.looksLikeText ? "the data is text, possibly an HTML page" : advice)
        return ImageDecodingError(
            .unknownFormat, "cannot decode the data: no registered codec recognizes it (registered: \(known)); \(hint)")
    }
}

extension CodecRegistry.Entry {
    /// Whether the bytes are an incomplete beginning of one of the signatures.
    fileprivate func mayBegin(_ bytes: RawSpan) -> Bool {
        signatures.contains { SignatureMatch($0, bytes) == .partial }
    }
}

/// The result of comparing the beginning of a file with a signature.
private enum SignatureMatch {
    case complete
    /// The bytes match, but there are fewer of them than the signature has.
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
    /// Whether the content, after a byte order mark and white space, begins with `<` or `{`, like markup or a JSON
    /// object.
    var looksLikeText: Bool {
        let skipped: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
        let head = prefix(CodecRegistry.sniffedByteCount).drop { skipped.contains($0) }
        return head.first == UInt8(ascii: "<") || head.first == UInt8(ascii: "{")
    }
}

/// A decoding state that collects bytes until the format is known, and then forwards them to the decoder of that
/// format.
private final class SniffingState: IncrementalDecodingState {
    private let makeDecoder: (_ head: Data, _ isEnd: Bool) throws(ImageDecodingError) -> (any IncrementalImageDecoding)?
    private var head = Data()
    private var decoder: (any IncrementalImageDecoding)?

    /// Creates a state without bytes.
    ///
    /// - Parameter makeDecoder: A closure that returns a decoder, or nil when more bytes are needed to recognize the
    ///   format. It throws when no entry recognizes the bytes. At the end of the file, it must return a decoder or
    ///   throw.
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
        guard let decoder else {
            throw ImageDecodingError(
                .unknownFormat,
                "cannot decode the data: no registered codec recognizes it; add its codec to the CodecRegistry")
        }
        return try decoder.finish()
    }
}
