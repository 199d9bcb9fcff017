#if HEIF
    import AlcedoCore

    /// The type of a box, an item or a brand: four ASCII characters.
    struct BoxType: Hashable, ExpressibleByStringLiteral {
        let code: Int

        init(code: Int) { self.code = code }

        init(stringLiteral text: StaticString) {
            code = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | Int($1) } }
        }
    }

    /// One box of an ISO base media file. Source: ISO/IEC 14496-12, section 4.2.
    struct Box {
        let type: BoxType
        /// The offsets of the payload in the bytes of the file. For a box of the file itself, the end may be beyond the
        /// received bytes.
        let payload: Range<Int>

        /// The number of bytes that a box with this header takes, header included.
        ///
        /// - Parameters:
        ///   - offset: The offset of the header.
        ///   - limit: The end of the bytes that the header and, if the size is 0, the box may take.
        /// - Returns: nil when the header is incomplete or its size is impossible.
        init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, limit: Int) {
            var reader = BoxReader(bytes, offset..<min(limit, bytes.count))
            guard let size = try? reader.number(4), let code = try? reader.number(4) else { return nil }
            var end = limit
            if size == 1 {
                guard let large = try? reader.number(8), large >= 16 else { return nil }
                let (sum, overflow) = offset.addingReportingOverflow(large)
                guard !overflow else { return nil }
                end = sum
            } else if size > 0 {
                guard size >= 8 else { return nil }
                end = offset + size
            }
            type = BoxType(code: code)
            payload = reader.position..<max(reader.position, end)
        }

        /// Returns the boxes in the payload, up to the first damaged one.
        ///
        /// - Parameter skipped: The number of bytes between the header and the first box.
        func children(_ bytes: UnsafeBufferPointer<UInt8>, skipping skipped: Int = 0) -> [Box] {
            let end = min(payload.upperBound, bytes.count)
            var boxes: [Box] = []
            var offset = payload.lowerBound + skipped
            while offset < end, let box = Box(bytes, at: offset, limit: end), box.payload.upperBound <= end {
                boxes.append(box)
                offset = box.payload.upperBound
            }
            return boxes
        }

        /// Returns the first box with a type in the payload.
        func child(_ type: BoxType, _ bytes: UnsafeBufferPointer<UInt8>, skipping skipped: Int = 0) -> Box? {
            children(bytes, skipping: skipped).first { $0.type == type }
        }

        /// Returns a reader of the fields in the payload.
        func reader(_ bytes: UnsafeBufferPointer<UInt8>) -> BoxReader { BoxReader(bytes, payload) }
    }

    /// A reader of the fields of a box, one after another.
    struct BoxReader {
        private let bytes: UnsafeBufferPointer<UInt8>
        private(set) var position: Int
        private let end: Int

        /// Creates a reader of the part of a range that is among the bytes.
        init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
            self.bytes = bytes
            position = range.lowerBound
            end = min(range.upperBound, bytes.count)
        }

        /// The offsets of the bytes that have not been read.
        var rest: Range<Int> { position..<max(position, end) }

        /// Reads a big-endian number of at most eight bytes. A count of 0 is the number 0.
        ///
        /// - Throws: `corrupt` when the box ends before, or the number exceeds `Int.max`.
        mutating func number(_ count: Int) throws(ImageDecodingError) -> Int {
            guard position >= 0, position <= end, count <= end - position else { throw Self.damaged }
            let value = bytes[position..<position + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard value <= UInt64(Int.max) else { throw Self.damaged }
            position += count
            return Int(value)
        }

        /// Reads a signed number of 32 bits.
        mutating func signedNumber() throws(ImageDecodingError) -> Int {
            Int(Int32(truncatingIfNeeded: try number(4)))
        }

        mutating func type() throws(ImageDecodingError) -> BoxType { BoxType(code: try number(4)) }

        mutating func skip(_ count: Int) throws(ImageDecodingError) {
            guard count <= end - position else { throw Self.damaged }
            position += count
        }

        /// Reads bytes up to a zero, which is skipped, or to the end of the box.
        mutating func text() -> String {
            let range = rest
            let characters = bytes[range].prefix { $0 != 0 }
            position = min(range.upperBound, characters.endIndex + 1)
            return String(decoding: characters, as: UTF8.self)
        }

        private static var damaged: ImageDecodingError { ImageDecodingError(.corrupt, "HEIF: a box is too short") }
    }
#endif
