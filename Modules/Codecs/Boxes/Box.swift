/// The type of a box, an item or a brand: four ASCII characters.
package struct BoxType: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The characters as a big-endian number.
    private let code: UInt64

    package init(code: UInt64) { self.code = code }

    package init(stringLiteral text: StaticString) {
        code = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }
}

/// One box of an ISO base media file. Source: ISO/IEC 14496-12, section 4.2.
///
///     for track in movie.children() where track.type == "trak" {
///         let isLong = track.child("tkhd")?.number(at: 0, 1) == 1
///     }
///
/// A box refers to the bytes of its file, which must outlive it.
package struct Box {
    package let type: BoxType
    /// The offsets of the payload in the bytes. The end of a box of the file itself may be beyond the received bytes.
    package let payload: Range<Int>
    /// The received bytes of the file.
    package let bytes: UnsafeBufferPointer<UInt8>

    /// Reads the header of a box of the file itself. Returns nil when it is incomplete, or the size is below that of
    /// the header. A size of zero means that the box extends to the end of the bytes.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        self.init(bytes, at: offset, limit: bytes.count)
    }

    /// Reads the header of a box within a limit, which the end of the box may exceed.
    fileprivate init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, limit: Int) {
        guard offset < limit else { return nil }
        var reader = BoxReader(bytes, offset..<limit)
        guard let size = reader.unsigned(4), let code = reader.unsigned(4) else { return nil }
        let end: Int
        switch size {
        case 0: end = limit
        case 1:
            guard let large = reader.unsigned(8), large >= 16, large <= UInt64(Int.max - offset) else { return nil }
            end = offset + Int(large)
        case 8...: end = offset + Int(size)
        default: return nil
        }
        type = BoxType(code: code)
        payload = reader.position..<end
        self.bytes = bytes
    }

    /// Returns the boxes in the payload, up to the first damaged one.
    ///
    /// - Parameter skipped: The number of bytes between the header and the first box. Default: 0.
    package func children(skipping skipped: Int = 0) -> BoxSequence {
        BoxSequence(bytes, from: payload.lowerBound + skipped, to: min(payload.upperBound, bytes.count))
    }

    /// Returns the first box with a type in the payload.
    package func child(_ type: BoxType, skipping skipped: Int = 0) -> Box? {
        children(skipping: skipped).first { $0.type == type }
    }

    /// Returns the boxes inside this one to which a path of types leads.
    package func descendants(_ path: BoxType...) -> [Box] {
        path.reduce([self]) { boxes, type in
            boxes.flatMap { box in box.children().filter { $0.type == type } }
        }
    }

    /// A reader of the fields in the payload.
    package var reader: BoxReader { BoxReader(bytes, payload) }

    /// Returns the big-endian number of at most eight bytes at an offset from the payload's start, or nil when it is
    /// not inside the box.
    package func number(at offset: Int, _ count: Int) -> UInt64? {
        var reader = reader
        return reader.advance(offset) ? reader.unsigned(count) : nil
    }
}

/// Successive boxes, up to the first one that is damaged or incomplete.
package struct BoxSequence: Sequence, IteratorProtocol {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset: Int
    private let end: Int

    /// Creates a sequence of the boxes of a file itself.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(bytes, from: 0, to: bytes.count) }

    fileprivate init(_ bytes: UnsafeBufferPointer<UInt8>, from offset: Int, to end: Int) {
        self.bytes = bytes
        self.offset = offset
        self.end = end
    }

    package mutating func next() -> Box? {
        guard let box = Box(bytes, at: offset, limit: end), box.payload.upperBound <= end else { return nil }
        offset = box.payload.upperBound
        return box
    }

    /// The first box, or nil when there is none.
    package var first: Box? {
        var boxes = self
        return boxes.next()
    }

    /// The number of boxes. O(boxes).
    package var count: Int { reduce(0) { count, _ in count + 1 } }
}
