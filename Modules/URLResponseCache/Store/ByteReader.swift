import FoundationEssentials

/// Reads what ``ByteWriter`` wrote. nil for what is not there; no length is believed beyond the bytes that are.
struct ByteReader {
    private let data: Data
    private var position: Int

    init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    var isAtEnd: Bool { position == data.endIndex }

    /// Bytes that are left.
    var count: Int { data.endIndex - position }

    mutating func int() -> Int? {
        guard count >= 8 else { return nil }
        let number = data.bytes.unsafeLoadUnaligned(
            fromByteOffset: position - data.startIndex, as: Int64.self)
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
        let start = position - data.startIndex
        guard let text = try? UTF8Span(validating: data.span.extracting(start..<(start + length))) else { return nil }
        return String(copying: text)
    }

    /// So many values; nil when there cannot be that many, because each takes at least eight bytes.
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
