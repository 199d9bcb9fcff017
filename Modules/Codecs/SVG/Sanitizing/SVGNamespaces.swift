#if SVG
    /// The namespaces that the open elements declare. Source: Namespaces in XML 1.0.
    struct SVGNamespaces {
        static let svg = "http://www.w3.org/2000/svg"
        static let xlink = "http://www.w3.org/1999/xlink"

        /// The namespaces of each prefix; the last one counts. A list of all declarations would take too long to
        /// search, because hundreds of nested elements can declare a thousand prefixes each.
        private var uris: [Substring: [String]] = [:]
        /// The prefixes that each open element declares.
        private var prefixes: [[Substring]] = []

        /// Begins an element.
        mutating func open(_ attributes: [XMLAttribute]) {
            var declared: [Substring] = []
            for attribute in attributes where attribute.name.hasPrefix("xmlns") {
                let rest = attribute.name.dropFirst(5)
                guard rest.isEmpty || rest.first == ":" else { continue }
                let prefix = rest.dropFirst()
                uris[prefix, default: []].append(String(decoding: attribute.value, as: UTF8.self))
                declared.append(prefix)
            }
            prefixes.append(declared)
        }

        /// Ends an element.
        mutating func close() {
            for prefix in prefixes.popLast() ?? [] { uris[prefix]?.removeLast() }
        }

        /// Returns the name without its prefix if it is one of SVG, or nil. A name without any namespace counts as one.
        func svgName(_ name: String) -> String? {
            guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                let uri = uri(of: "")
                return uri == nil || uri == "" || uri == Self.svg ? name : nil
            }
            return uri(of: name[..<colon]) == Self.svg ? String(name[name.index(after: colon)...]) : nil
        }

        /// Returns the name under which an attribute is written, or nil when it is left out: `href` for that of XLink,
        /// and others without a namespace or with that of XML.
        func attributeName(_ name: String) -> String? {
            guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return name == "xmlns" ? nil : name }
            let local = name[name.index(after: colon)...]
            if name == "xml:space" || name == "xml:lang" { return name }
            return local == "href" && uri(of: name[..<colon]) == Self.xlink ? "xlink:href" : nil
        }

        private func uri(of prefix: Substring) -> String? { uris[prefix]?.last }
    }
#endif
