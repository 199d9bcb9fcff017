import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

extension ResponseEntry {
    /// The entry as bytes, for a store that keeps it in a file or a database.
    ///
    /// The metadata, usually a few hundred bytes, is in a format of this module. Later versions of the module may not
    /// read it.
    public var encoded: (metadata: Data, body: Data) { ResponseEntryCoder.encode(self) }

    /// Creates an entry from the data of ``encoded``.
    ///
    /// Returns nil for metadata of another format and for most damage. A store that must detect all damage needs a
    /// checksum.
    public init?(metadata: Data, body: Data) {
        guard let entry = ResponseEntryCoder.decode(metadata, body: body) else { return nil }
        self = entry
    }
}

/// The stored form of entries, as bytes.
private enum ResponseEntryCoder {
    /// The version of the format. Entries of another version are not read. Version 2 held the values of most fields
    /// that `Vary` names, not digests of them. Version 3 did not keep users apart by their cookies.
    private static let format = 4

    private enum Kind: Int {
        case response, variants
    }

    static func encode(_ entry: ResponseEntry) -> (metadata: Data, body: Data) {
        var writer = ByteWriter()
        writer.write(format)
        switch entry {
        case .response(let response):
            writer.write(Kind.response.rawValue)
            write(response, to: &writer)
            return (writer.data, response.body)
        case .variants(let variants):
            writer.write(Kind.variants.rawValue)
            writer.write(variants.nameLists.count)
            for names in variants.nameLists {
                writer.write(names.count)
                for name in names { writer.write(name) }
            }
            writer.write(variants.tagged.count)
            for tagged in variants.tagged {
                writer.write(tagged.variant)
                writer.write(tagged.entityTag)
            }
            return (writer.data, Data())
        }
    }

    /// Returns the decoded entry; nil if the metadata is damaged or has another format.
    static func decode(_ metadata: Data, body: Data) -> ResponseEntry? {
        var reader = ByteReader(metadata)
        guard reader.int() == format, let kind = reader.int().flatMap(Kind.init) else { return nil }
        let entry: ResponseEntry?
        switch kind {
        case .response: entry = response(from: &reader, body: body).map { .response($0) }
        case .variants: entry = variants(from: &reader).map { .variants($0) }
        }
        return reader.isAtEnd ? entry : nil
    }

    private static func write(_ response: StoredResponse, to writer: inout ByteWriter) {
        writer.write(response.head.url.absoluteString)
        writer.write(response.head.status)
        write(response.head.fields, to: &writer)
        write(response.varyingFields, to: &writer)
        writer.write(response.part?.offset ?? -1)
        writer.write(response.part?.completeCount ?? -1)
        writer.write(response.requestTime)
        writer.write(response.responseTime)
        writer.write(Int(response.storagePolicy.rawValue))
        let terms = response.terms
        writer.write(Int(terms.conditions.rawValue))
        writer.write(terms.date)
        let seconds = [terms.initialAge, terms.lifetime, terms.staleWhileRevalidate, terms.staleIfError]
        for number in seconds + [terms.timeToLive.map { max(0, $0) } ?? -1] { writer.write(number) }
        writer.write(response.userInfo.count)
        for (key, value) in response.userInfo.sorted(by: { $0.key < $1.key }) {
            writer.write(key)
            writer.write(value)
        }
    }

    private static func write(_ fields: HTTPFields, to writer: inout ByteWriter) {
        writer.write(fields.fields.count)
        for field in fields {
            writer.write(field.name)
            writer.write(field.value)
        }
    }

    private static func response(from reader: inout ByteReader, body: Data) -> StoredResponse? {
        guard let url = reader.string().flatMap({ URL(string: $0) }), let status = reader.int(),
            let fields = Self.fields(from: &reader), let varyingFields = Self.fields(from: &reader),
            let offset = reader.int(), let completeCount = reader.int(), offset <= Int.max - body.count,
            let requestTime = reader.date(), let responseTime = reader.date(),
            let policy = reader.int().flatMap({ UInt8(exactly: $0) }).flatMap(ResponseStoragePolicy.init),
            let conditions = reader.int().flatMap({ UInt8(exactly: $0) }), let date = reader.date(),
            let initialAge = reader.double(), let lifetime = reader.double(), let whileRevalidate = reader.double(),
            let ifError = reader.double(), let timeToLive = reader.double(), let userInfo = reader.array(Self.pair)
        else { return nil }
        return StoredResponse(
            head: HTTPResponseHead(url: url, status: status, fields: fields), body: body,
            part: offset < 0
                ? nil : ContentPart(offset: offset, completeCount: completeCount < 0 ? nil : completeCount),
            varyingFields: varyingFields, requestTime: requestTime, responseTime: responseTime,
            terms: Freshness(
                conditions: Freshness.Conditions(rawValue: conditions), date: date, initialAge: initialAge,
                lifetime: lifetime, staleWhileRevalidate: whileRevalidate, staleIfError: ifError,
                timeToLive: timeToLive < 0 ? nil : timeToLive),
            storagePolicy: policy, userInfo: Dictionary(userInfo, uniquingKeysWith: { _, last in last }))
    }

    private static func fields(from reader: inout ByteReader) -> HTTPFields? {
        reader.array { pair(&$0).map { HTTPFields.Field($0.0, $0.1) } }.map { HTTPFields($0) }
    }

    private static func variants(from reader: inout ByteReader) -> ResponseVariants? {
        guard let nameLists = reader.array({ $0.array { $0.string() } }), let tagged = reader.array(Self.pair) else {
            return nil
        }
        return ResponseVariants(
            nameLists: nameLists,
            tagged: tagged.map { ResponseVariants.Tagged(variant: $0.0, entityTag: $0.1) })
    }

    private static func pair(_ reader: inout ByteReader) -> (String, String)? {
        guard let first = reader.string(), let second = reader.string() else { return nil }
        return (first, second)
    }
}

/// A writer of values in sequence: numbers as 64 bits in little-endian order, strings as UTF-8 after their length.
private struct ByteWriter {
    private(set) var data = Data()

    mutating func write(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func write(_ number: Double) { write(Int(bitPattern: UInt(number.bitPattern))) }

    mutating func write(_ date: Date) { write(date.timeIntervalSinceReferenceDate) }

    mutating func write(_ text: String) {
        write(text.utf8.count)
        data.append(contentsOf: text.utf8)
    }
}

/// A reader of the values written by ``ByteWriter``. Its methods return nil if the data ends early or is invalid;
/// lengths are checked against the remaining bytes.
private struct ByteReader {
    /// A copy of the data, because an access to `Data` takes as long as reading a number.
    private let bytes: [UInt8]
    private var position = 0

    init(_ data: Data) { bytes = [UInt8](data) }

    var isAtEnd: Bool { position == bytes.count }

    /// The number of remaining bytes.
    private var count: Int { bytes.count - position }

    mutating func int() -> Int? {
        guard count >= 8 else { return nil }
        let number = bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Int64.self)
        position += 8
        return Int(Int64(littleEndian: number))
    }

    mutating func double() -> Double? {
        int().map { Double(bitPattern: UInt64(UInt(bitPattern: $0))) }.flatMap { $0.isFinite ? $0 : nil }
    }

    mutating func date() -> Date? { double().map { Date(timeIntervalSinceReferenceDate: $0) } }

    mutating func string() -> String? {
        guard let length = int(), length >= 0, length <= count else { return nil }
        defer { position += length }
        let characters = bytes.span.extracting(position..<position + length)
        guard let text = try? UTF8Span(validating: characters) else { return nil }
        return String(copying: text)
    }

    /// Reads an array. Each element takes at least eight bytes, so a count that exceeds an eighth of the remaining
    /// bytes is invalid.
    mutating func array<Element>(_ element: (inout ByteReader) -> Element?) -> [Element]? {
        guard let length = int(), length >= 0, length <= count / 8 else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(length)
        for _ in 0..<length {
            guard let next = element(&self) else { return nil }
            elements.append(next)
        }
        return elements
    }
}
