#if SVG
    import AlcedoCore

    /// The general entities that a document type declaration defines with their text. External entities are not read.
    struct XMLEntities {
        private var values: [String: [UInt8]] = [:]

        /// The maximum number of entities of a document.
        private static let maximumCount = 1_000

        /// Returns the text of an entity, with its references unresolved.
        func value(of name: String) -> [UInt8]? { values[name] }

        /// Reads a document type declaration after `<!DOCTYPE`.
        ///
        /// Identifiers of external subsets, parameter entities and declarations of elements and attributes are skipped.
        mutating func read(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            while true {
                switch try cursor.next() {
                case UInt8(ascii: ">"): return
                case UInt8(ascii: "["): try readSubset(&cursor)
                case UInt8(ascii: "\""): _ = try cursor.skip(through: "\"")
                case UInt8(ascii: "'"): _ = try cursor.skip(through: "'")
                default: break
                }
            }
        }

        private mutating func readSubset(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            while true {
                cursor.skipSpace()
                guard let byte = cursor.peek else { throw cursor.endError }
                switch byte {
                case UInt8(ascii: "]"):
                    _ = try cursor.next()
                    return
                case UInt8(ascii: "%"): _ = try cursor.skip(through: ";")
                default: try readDeclaration(&cursor)
                }
            }
        }

        private mutating func readDeclaration(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            if try cursor.skip("<!--") {
                _ = try cursor.skip(through: "-->")
            } else if try cursor.skip("<?") {
                _ = try cursor.skip(through: "?>")
            } else if try cursor.skip("<!ENTITY") {
                try readEntity(&cursor)
            } else if try cursor.skip("<!") {
                try skipDeclaration(&cursor)
            } else {
                throw cursor.error("a declaration is missing")
            }
        }

        private mutating func readEntity(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            cursor.skipSpace()
            // Parameter entities, and entities with an external identifier, are skipped.
            guard cursor.peek != UInt8(ascii: "%") else { return try skipDeclaration(&cursor) }
            let name = try cursor.name()
            cursor.skipSpace()
            guard let quote = cursor.peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                return try skipDeclaration(&cursor)
            }
            _ = try cursor.next()
            let range = try cursor.skip(through: quote == UInt8(ascii: "'") ? "'" : "\"")
            // The first declaration of a name counts.
            if values[name] == nil { values[name] = Array(cursor.bytes[range]) }
            guard values.count <= Self.maximumCount else {
                throw ImageDecodingError(.exceedsLimit, "SVG: more than \(Self.maximumCount) entities")
            }
            try skipDeclaration(&cursor)
        }

        private func skipDeclaration(_ cursor: inout XMLCursor) throws(ImageDecodingError) {
            while true {
                switch try cursor.next() {
                case UInt8(ascii: ">"): return
                case UInt8(ascii: "\""): _ = try cursor.skip(through: "\"")
                case UInt8(ascii: "'"): _ = try cursor.skip(through: "'")
                default: break
                }
            }
        }
    }
#endif
