/// A reader of the fields of a box, one after another.
package struct BoxReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    package private(set) var position: Int
    private let end: Int

    /// Creates a reader of the part of a range that is among the bytes.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        end = min(range.upperBound, bytes.count)
        position = min(range.lowerBound, end)
    }

    /// The offsets of the bytes that have not been read.
    package var rest: Range<Int> { position..<end }

    /// Reads a big-endian number. A count of 0 is the number 0. Returns nil when the box ends before, and for more than
    /// eight bytes.
    package mutating func unsigned(_ count: Int) -> UInt64? {
        guard count <= min(8, end - position) else { return nil }
        defer { position += count }
        return bytes[position..<position + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a big-endian number as an `Int`. Also returns nil when it exceeds `Int.max`.
    package mutating func integer(_ count: Int) -> Int? { unsigned(count).flatMap { Int(exactly: $0) } }

    /// Skips bytes. Returns false, and skips none, when the box ends before.
    package mutating func advance(_ count: Int) -> Bool {
        guard count <= end - position else { return false }
        position += count
        return true
    }

    /// Reads bytes up to a zero, which is skipped, or to the end of the box.
    package mutating func text() -> String {
        let characters = bytes[rest].prefix { $0 != 0 }
        position = min(end, characters.endIndex + 1)
        return String(decoding: characters, as: UTF8.self)
    }
}
