#if SVG
    import AlcedoCore

    /// A position in the bytes of an XML document or of an entity.
    struct XMLCursor {
        let bytes: [UInt8]
        private(set) var position = 0
        /// The error when the bytes end too early: `truncated` for a file, `corrupt` for an entity or before an invalid
        /// byte.
        private let endCode: ImageDecodingError.Code

        init(_ bytes: [UInt8], endCode: ImageDecodingError.Code) {
            self.bytes = bytes
            self.endCode = endCode
        }

        var isAtEnd: Bool { position >= bytes.count }

        /// The next byte, or nil at the end.
        var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

        /// The error at the end of the bytes.
        var endError: ImageDecodingError {
            endCode == .truncated
                ? ImageDecodingError(.truncated, "SVG: the data ends within the document")
                : ImageDecodingError(.corrupt, "SVG: invalid XML at byte \(position)")
        }

        /// Returns the error for invalid XML at this position.
        func error(_ description: String) -> ImageDecodingError {
            ImageDecodingError(.corrupt, "SVG: invalid XML at byte \(position): \(description)")
        }

        /// Consumes a byte.
        mutating func next() throws(ImageDecodingError) -> UInt8 {
            guard let byte = peek else { throw endError }
            position += 1
            return byte
        }

        /// Consumes the text when it is next, and returns whether it was. Throws when the bytes end within the text.
        mutating func skip(_ text: StaticString) throws(ImageDecodingError) -> Bool {
            for offset in 0..<text.utf8CodeUnitCount {
                guard position + offset < bytes.count else { throw endError }
                guard bytes[position + offset] == text.utf8Start[offset] else { return false }
            }
            position += text.utf8CodeUnitCount
            return true
        }

        /// Consumes the bytes through the text, and returns the range before it.
        mutating func skip(through text: StaticString) throws(ImageDecodingError) -> Range<Int> {
            let start = position
            let count = text.utf8CodeUnitCount
            while position + count <= bytes.count {
                if try skip(text) { return start..<position - count }
                position += 1
            }
            position = bytes.count
            throw endError
        }

        mutating func skipSpace() { while let byte = peek, XMLCharacter.isSpace(byte) { position += 1 } }

        /// Consumes the bytes before the next `<` or `&`, and returns them.
        mutating func text() -> ArraySlice<UInt8> { run { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") } }

        /// Consumes the bytes of an attribute's value before the quote, the next special character or the next line.
        mutating func value(quote: UInt8) -> ArraySlice<UInt8> {
            run { $0 != quote && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") && $0 >= 0x20 }
        }

        mutating func name() throws(ImageDecodingError) -> String {
            guard let first = peek else { throw endError }
            guard XMLCharacter.isNameStart(first) else { throw error("a name is missing") }
            let name = run(XMLCharacter.isName)
            guard !isAtEnd else { throw endError }
            guard name.count <= Self.maximumNameLength else {
                throw ImageDecodingError(.exceedsLimit, "SVG: a name has more than \(Self.maximumNameLength) bytes")
            }
            return String(decoding: name, as: UTF8.self)
        }

        private static let maximumNameLength = 1_000

        private mutating func run(_ isIncluded: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let start = position
            var end = start
            bytes.withUnsafeBufferPointer { bytes in
                while end < bytes.count, isIncluded(bytes[end]) { end += 1 }
            }
            position = end
            return bytes[start..<end]
        }
    }
#endif
