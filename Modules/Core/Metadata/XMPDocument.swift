/// The qualified name of an element or an attribute of an XMP packet.
struct XMPName: Hashable {
    /// The URI of the namespace, or an empty text for a name without one.
    var namespace: String
    var local: String

    /// The namespaces of RDF and of the attributes that XML defines.
    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    static let xml = "http://www.w3.org/XML/1998/namespace"

    /// The namespaces of properties that are read. Source: XMP specification part 2, chapters 2 and 3; CIPA DC-010.
    static let dublinCore = "http://purl.org/dc/elements/1.1/"
    static let photoshop = "http://ns.adobe.com/photoshop/1.0/"
    static let basic = "http://ns.adobe.com/xap/1.0/"
    static let tiff = "http://ns.adobe.com/tiff/1.0/"
    static let exif = "http://ns.adobe.com/exif/1.0/"
    static let exifEX = "http://cipa.jp/exif/1.0/"
    static let aux = "http://ns.adobe.com/exif/1.0/aux/"

    static func rdf(_ local: String) -> Self { Self(namespace: rdf, local: local) }
    static func dublinCore(_ local: String) -> Self { Self(namespace: dublinCore, local: local) }
    static func photoshop(_ local: String) -> Self { Self(namespace: photoshop, local: local) }
    static func basic(_ local: String) -> Self { Self(namespace: basic, local: local) }
    static func tiff(_ local: String) -> Self { Self(namespace: tiff, local: local) }
    static func exif(_ local: String) -> Self { Self(namespace: exif, local: local) }
    static func exifEX(_ local: String) -> Self { Self(namespace: exifEX, local: local) }
    static func aux(_ local: String) -> Self { Self(namespace: aux, local: local) }
}

struct XMPElement {
    var name: XMPName
    var attributes: [(name: XMPName, value: String)] = []
    var content: [Node] = []

    enum Node {
        case element(XMPElement)
        case text(String)
    }

    /// The elements directly inside this one.
    var children: [XMPElement] {
        content.compactMap { if case .element(let child) = $0 { child } else { nil } }
    }
}

/// The elements of an XMP packet.
struct XMPDocument {
    private(set) var root: XMPElement
    /// The first prefix of each namespace.
    private(set) var prefixes: [String: String]

    /// Parses a packet in UTF-8 through the end of its root element. O(bytes).
    ///
    /// Returns nil for XML that is not well-formed, for a document type declaration and the entities that only it can
    /// define, and for packets beyond the limits in ``XMPParser``. Comments and processing instructions are skipped.
    init?(_ bytes: [UInt8]) {
        var parser = XMPParser(bytes)
        guard let root = parser.parse() else { return nil }
        self.root = root
        prefixes = parser.prefixes
    }
}

/// A parser of the part of XML that XMP uses. Its memory and time are bounded. Source: Extensible Markup Language 1.0,
/// fifth edition; Namespaces in XML 1.0, third edition.
private struct XMPParser {
    /// The maximum number of nested elements.
    private static let maximumDepth = 64
    /// The maximum number of elements and attributes, whose memory exceeds that of their bytes.
    private static let maximumNodeCount = 50_000
    /// The maximum number of namespaces that are declared at a position. Each name is compared with them.
    private static let maximumNamespaceCount = 128

    private let bytes: [UInt8]
    private var position = 0
    private var nodeCount = 0
    private var namespaces: [(prefix: String, uri: String)] = [("xml", XMPName.xml)]
    private(set) var prefixes: [String: String] = [:]
    /// The elements that have begun, with their names as written and the number of namespaces outside them.
    private var open: [(element: XMPElement, tag: String, outer: Int)] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the root element, or nil if the document is invalid.
    mutating func parse() -> XMPElement? {
        if starts(with: [0xEF, 0xBB, 0xBF]) { position += 3 }
        while position < bytes.count {
            if bytes[position] != UInt8(ascii: "<") {
                let text = text(before: UInt8(ascii: "<"))
                guard let text, !open.isEmpty || text.allSatisfy(\.isWhitespace) else { return nil }
                if !open.isEmpty, !text.isEmpty { open[open.count - 1].element.content.append(.text(text)) }
            } else if starts(with: "<?".utf8) {
                guard skip(through: "?>") != nil else { return nil }
            } else if starts(with: "<!--".utf8) {
                guard skip(through: "-->") != nil else { return nil }
            } else if starts(with: "<![CDATA[".utf8) {
                position += 9
                guard !open.isEmpty, let content = skip(through: "]]>") else { return nil }
                open[open.count - 1].element.content.append(.text(String(decoding: bytes[content], as: UTF8.self)))
            } else if starts(with: "</".utf8) {
                position += 2
                guard let tag = name(), close(tag) else { return nil }
                if open.count == 1 { return open[0].element }
                endElement()
            } else {
                // A document type declaration has no valid name.
                position += 1
                guard let isEmpty = startElement() else { return nil }
                if isEmpty {
                    if open.count == 1 { return open[0].element }
                    endElement()
                }
            }
        }
        return nil
    }

    /// Reads a start tag after its `<`. Returns whether it is also the end of the element, or nil if it is invalid.
    private mutating func startElement() -> Bool? {
        guard open.count < Self.maximumDepth, let tag = name() else { return nil }
        let outer = namespaces.count
        var attributes: [(tag: String, value: String)] = []
        while true {
            let hadSpace = skipSpace()
            guard position < bytes.count else { return nil }
            if bytes[position] == UInt8(ascii: ">") || bytes[position] == UInt8(ascii: "/") { break }
            guard hadSpace, let attribute = attribute() else { return nil }
            nodeCount += 1
            guard nodeCount <= Self.maximumNodeCount else { return nil }
            if attribute.tag == "xmlns" || attribute.tag.hasPrefix("xmlns:") {
                let prefix = String(attribute.tag.dropFirst(6))
                guard namespaces.count < Self.maximumNamespaceCount, prefix != "xml" else { return nil }
                namespaces.append((prefix, attribute.value))
                if !prefix.isEmpty, prefixes[attribute.value] == nil { prefixes[attribute.value] = prefix }
            } else {
                attributes.append(attribute)
            }
        }
        let isEmpty = bytes[position] == UInt8(ascii: "/")
        position += isEmpty ? 2 : 1
        guard position <= bytes.count, bytes[position - 1] == UInt8(ascii: ">"),
            let name = resolved(tag, isAttribute: false)
        else { return nil }
        nodeCount += 1
        guard nodeCount <= Self.maximumNodeCount else { return nil }
        var element = XMPElement(name: name)
        for (tag, value) in attributes {
            guard let name = resolved(tag, isAttribute: true) else { return nil }
            element.attributes.append((name, value))
        }
        open.append((element, tag, outer))
        return isEmpty
    }

    /// Reads the rest of an end tag. Returns whether it ends the innermost element.
    private mutating func close(_ tag: String) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ">"), open.last?.tag == tag else { return false }
        position += 1
        return true
    }

    /// Adds the innermost element to the one around it.
    private mutating func endElement() {
        guard let (element, _, outer) = open.popLast() else { return }
        namespaces.removeSubrange(outer...)
        open[open.count - 1].element.content.append(.element(element))
    }

    /// Returns the name for a tag, or nil when its prefix is not declared.
    private func resolved(_ tag: String, isAttribute: Bool) -> XMPName? {
        guard let colon = tag.firstIndex(of: ":") else {
            let uri = isAttribute ? nil : namespaces.last { $0.prefix.isEmpty }?.uri
            return XMPName(namespace: uri ?? "", local: tag)
        }
        let (prefix, local) = (tag[..<colon], tag[tag.index(after: colon)...])
        guard !local.isEmpty, !local.contains(":"), let uri = namespaces.last(where: { $0.prefix == prefix })?.uri
        else { return nil }
        return XMPName(namespace: uri, local: String(local))
    }

    private mutating func attribute() -> (tag: String, value: String)? {
        guard let tag = name() else { return nil }
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return nil }
        position += 1
        skipSpace()
        guard position < bytes.count else { return nil }
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        position += 1
        guard let value = text(before: quote), position < bytes.count else { return nil }
        position += 1
        return (tag, value)
    }

    /// Returns a name with its prefix. Other characters than these cannot be written as they are.
    private mutating func name() -> String? {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: ":"), 0x80...:
                position += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                guard position > start else { return nil }
                position += 1
            default: return position == start ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
            }
        }
        return nil
    }

    /// Returns the text up to a byte or the end of the data, with its references replaced. Returns nil for an unknown
    /// reference, and for a `<` in the value of an attribute.
    private mutating func text(before end: UInt8) -> String? {
        var text: [UInt8] = []
        while position < bytes.count, bytes[position] != end {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "<"): return nil
            case UInt8(ascii: "&"):
                guard let character = reference() else { return nil }
                text += Array(String(character).utf8)
            // Source: Extensible Markup Language 1.0, section 2.11.
            case UInt8(ascii: "\r"):
                if position == bytes.count || bytes[position] != UInt8(ascii: "\n") { text.append(0x0A) }
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a reference after its `&`.
    private mutating func reference() -> Unicode.Scalar? {
        let longest = "#x0010FFFF;".utf8.count
        let rest = bytes[position..<min(position + longest, bytes.count)]
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        position = end + 1
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let isHex = name.hasPrefix("#x")
            let digits = name.dropFirst(isHex ? 2 : 1)
            guard !digits.hasPrefix("+"), let code = UInt32(digits, radix: isHex ? 16 : 10) else { return nil }
            return Unicode.Scalar(code)
        }
    }

    private func starts(with text: some Sequence<UInt8>) -> Bool { bytes[position...].starts(with: text) }

    @discardableResult private mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        return position > start
    }

    /// Skips through a text. Returns the range before it, or nil if the data ends before.
    private mutating func skip(through text: String) -> Range<Int>? {
        let (start, text) = (position, Array(text.utf8))
        while position <= bytes.count - text.count {
            if bytes[position] == text[0], starts(with: text) {
                position += text.count
                return start..<position - text.count
            }
            position += 1
        }
        return nil
    }
}
