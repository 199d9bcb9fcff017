#if SVG
    import AlcedoCore

    /// An attribute as written: with the prefix of its namespace. References in the value are resolved.
    struct XMLAttribute {
        let name: String
        var value: [UInt8]
    }

    /// The receiver of the elements and the text of a document. Elements are balanced.
    protocol XMLHandler {
        mutating func startElement(_ name: String, _ attributes: [XMLAttribute]) throws(ImageDecodingError)
        mutating func characters(_ text: ArraySlice<UInt8>) throws(ImageDecodingError)
        mutating func endElement() throws(ImageDecodingError)
    }

    /// A parser of XML without external parts, whose memory and time are bounded.
    ///
    /// It checks that a document is well-formed as far as elements, attributes and references go. Comments and
    /// processing instructions are skipped, and so is everything after the root element. Nothing outside the document
    /// is read. Source: Extensible Markup Language 1.0, fifth edition.
    struct XMLParser<Handler: XMLHandler> {
        var handler: Handler
        private var openNames: [String] = []
        private var entities = XMLEntities()
        private var expandedByteCount = 0
        private var entityDepth = 0

        init(_ handler: Handler) { self.handler = handler }

        /// Parses a document until the end of its root element. O(bytes of the document and of expanded entities).
        ///
        /// - Throws: `truncated` when the document has no end, `corrupt` for invalid XML, `exceedsLimit`, and the
        ///   errors of the handler. The handler has received everything before the error.
        mutating func parse(_ text: XMLText) throws(ImageDecodingError) {
            var cursor = XMLCursor(text.bytes, endCode: text.isDamaged ? .corrupt : .truncated)
            try parseProlog(&cursor)
            try parseStartTag(&cursor)
            try parseContent(&cursor, depth: 0)
        }

        /// Parses everything before the root element, and its `<`.
        private mutating func parseProlog(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            while true {
                cursor.skipSpace()
                guard try cursor.skip("<") else { throw cursor.error("a root element is missing") }
                guard let byte = cursor.peek else { throw cursor.endError }
                if byte == UInt8(ascii: "?") {
                    _ = try cursor.skip(through: "?>")
                } else if byte != UInt8(ascii: "!") {
                    return
                } else if try cursor.skip("!--") {
                    _ = try cursor.skip(through: "-->")
                } else if try cursor.skip("!DOCTYPE") {
                    try entities.read(&cursor)
                } else {
                    throw cursor.error("unknown markup")
                }
            }
        }

        /// Parses content until the number of open elements is `depth`, or for an entity until its end.
        private mutating func parseContent(
            _ cursor: inout XMLCursor, depth: Int, isEntity: Bool = false
        ) throws(ImageDecodingError) {
            while isEntity ? !cursor.isAtEnd : openNames.count > depth {
                let text = cursor.text()
                if !text.isEmpty { try handler.characters(text) }
                guard let byte = cursor.peek else {
                    guard isEntity else { throw cursor.endError }
                    break
                }
                if byte == UInt8(ascii: "&") {
                    try parseReference(&cursor)
                } else {
                    _ = try cursor.next()
                    try parseMarkup(&cursor, depth: depth)
                }
            }
            guard openNames.count == depth else { throw cursor.error("an entity has unbalanced elements") }
        }

        /// Parses markup after its `<`.
        private mutating func parseMarkup(_ cursor: inout XMLCursor, depth: Int) throws(ImageDecodingError) {
            guard let byte = cursor.peek else { throw cursor.endError }
            switch byte {
            case UInt8(ascii: "/"):
                guard openNames.count > depth else { throw cursor.error("an entity ends an element outside it") }
                try parseEndTag(&cursor)
            case UInt8(ascii: "?"): _ = try cursor.skip(through: "?>")
            case UInt8(ascii: "!"):
                if try cursor.skip("!--") {
                    _ = try cursor.skip(through: "-->")
                } else if try cursor.skip("![CDATA[") {
                    try handler.characters(cursor.bytes[try cursor.skip(through: "]]>")])
                } else {
                    throw cursor.error("unknown markup")
                }
            default: try parseStartTag(&cursor)
            }
        }

        /// The number of attributes up to which their names are compared one by one.
        private static var listedCount: Int { 16 }

        private mutating func parseStartTag(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            let name = try cursor.name()
            var attributes: [XMLAttribute] = []
            // Used for many attributes only, because searching a short list is faster.
            var names: Set<String> = []
            while true {
                cursor.skipSpace()
                guard let byte = cursor.peek else { throw cursor.endError }
                if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") { break }
                let attribute = try parseAttribute(&cursor)
                if attributes.count == Self.listedCount { names = Set(attributes.map(\.name)) }
                let isRepeated =
                    attributes.count < Self.listedCount
                    ? attributes.contains { $0.name == attribute.name } : !names.insert(attribute.name).inserted
                guard !isRepeated else {
                    throw cursor.error("the attribute \(attribute.name) is repeated")
                }
                attributes.append(attribute)
                guard attributes.count <= XMLLimits.maximumAttributeCount else {
                    throw ImageDecodingError(
                        .exceedsLimit, "SVG: more than \(XMLLimits.maximumAttributeCount) attributes of an element")
                }
            }
            guard openNames.count < XMLLimits.maximumDepth else {
                throw ImageDecodingError(
                    .exceedsLimit, "SVG: elements are nested more than \(XMLLimits.maximumDepth) levels deep")
            }
            let isEmpty = try cursor.next() == UInt8(ascii: "/")
            if isEmpty, try cursor.next() != UInt8(ascii: ">") { throw cursor.error("a tag is not closed") }
            openNames.append(name)
            try handler.startElement(name, attributes)
            if isEmpty {
                openNames.removeLast()
                try handler.endElement()
            }
        }

        private mutating func parseEndTag(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            _ = try cursor.next()
            let name = try cursor.name()
            cursor.skipSpace()
            guard try cursor.next() == UInt8(ascii: ">") else { throw cursor.error("a tag is not closed") }
            guard openNames.last == name else {
                throw cursor.error("\(openNames.last ?? "an element") ends with the tag of \(name)")
            }
            openNames.removeLast()
            try handler.endElement()
        }

        private mutating func parseAttribute(_ cursor: inout XMLCursor) throws(ImageDecodingError) -> XMLAttribute {
            let name = try cursor.name()
            cursor.skipSpace()
            guard try cursor.next() == UInt8(ascii: "=") else { throw cursor.error("\(name) has no value") }
            cursor.skipSpace()
            let quote = try cursor.next()
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw cursor.error("the value of \(name) has no quotes")
            }
            var value: [UInt8] = []
            try parseValue(&cursor, quote: quote, into: &value)
            return XMLAttribute(name: name, value: value)
        }

        /// Parses the value of an attribute through its quote, or an entity in it to its end.
        private mutating func parseValue(
            _ cursor: inout XMLCursor, quote: UInt8?, into value: inout [UInt8]
        ) throws(ImageDecodingError) {
            while quote != nil || !cursor.isAtEnd {
                value += cursor.value(quote: quote ?? UInt8(ascii: "<"))
                guard let byte = cursor.peek else {
                    guard quote == nil else { throw cursor.endError }
                    return
                }
                switch byte {
                case UInt8(ascii: "<"): throw cursor.error("a value contains <")
                case UInt8(ascii: "&"):
                    switch try reference(&cursor) {
                    case .character(let code): value.append(utf8Of: code)
                    case .entity(let text):
                        var inner = XMLCursor(text, endCode: .corrupt)
                        try withEntity(text) { (parser) throws(ImageDecodingError) in
                            try parser.parseValue(&inner, quote: nil, into: &value)
                        }
                    }
                case quote:
                    _ = try cursor.next()
                    return
                default:
                    _ = try cursor.next()
                    value.append(0x20)
                }
            }
        }

        private mutating func parseReference(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            switch try reference(&cursor) {
            case .character(let code):
                var text: [UInt8] = []
                text.append(utf8Of: code)
                try handler.characters(text[...])
            case .entity(let text):
                var inner = XMLCursor(text, endCode: .corrupt)
                try withEntity(text) { (parser) throws(ImageDecodingError) in
                    try parser.parseContent(&inner, depth: parser.openNames.count, isEntity: true)
                }
            }
        }

        private enum Reference {
            case character(UInt32)
            case entity([UInt8])
        }

        /// Parses a reference with its `&` and `;`.
        private func reference(_ cursor: inout XMLCursor) throws(ImageDecodingError) -> Reference {
            _ = try cursor.next()
            if cursor.peek == UInt8(ascii: "#") {
                let range = try cursor.skip(through: ";")
                let digits = cursor.bytes[range].dropFirst()
                let isHex = digits.first == UInt8(ascii: "x")
                let text = String(decoding: isHex ? digits.dropFirst() : digits, as: UTF8.self)
                guard !text.hasPrefix("+"), let code = UInt32(text, radix: isHex ? 16 : 10),
                    XMLCharacter.isAllowed(code)
                else { throw cursor.error("an invalid character reference") }
                return .character(code)
            }
            let name = try cursor.name()
            guard try cursor.next() == UInt8(ascii: ";") else { throw cursor.error("a reference is not closed") }
            if let character = Self.predefinedCharacter(name) { return .character(character.value) }
            guard let text = entities.value(of: name) else { throw cursor.error("unknown entity \(name)") }
            return .entity(text)
        }

        private static func predefinedCharacter(_ name: String) -> Unicode.Scalar? {
            switch name {
            case "lt": "<"
            case "gt": ">"
            case "amp": "&"
            case "quot": "\""
            case "apos": "'"
            default: nil
            }
        }

        /// Runs `body` for the text of an entity, within the limits of expansion.
        private mutating func withEntity(
            _ text: [UInt8], _ body: (inout Self) throws(ImageDecodingError) -> Void
        ) throws(ImageDecodingError) {
            expandedByteCount += text.count
            entityDepth += 1
            guard expandedByteCount <= XMLLimits.maximumExpandedByteCount, entityDepth <= XMLLimits.maximumEntityDepth
            else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "SVG: entities expand to more than \(XMLLimits.maximumExpandedByteCount) bytes or "
                        + "\(XMLLimits.maximumEntityDepth) levels")
            }
            try body(&self)
            entityDepth -= 1
        }
    }

    /// The limits of ``XMLParser``.
    enum XMLLimits {
        /// The maximum number of nested elements, which librsvg draws recursively.
        static let maximumDepth = 250
        static let maximumAttributeCount = 1_000
        /// The maximum number of bytes of all expanded entities.
        static let maximumExpandedByteCount = 1 << 20
        /// The maximum number of nested entities.
        static let maximumEntityDepth = 8
    }
#endif
