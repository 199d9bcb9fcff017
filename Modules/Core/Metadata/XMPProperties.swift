import FoundationEssentials

/// The properties of an XMP packet. Source: XMP specification part 1 (ISO 16684-1), sections 6 and 7.
struct XMPProperties {
    /// The elements of the properties. A property that is an attribute is an element with a text.
    private var elements: [XMPName: XMPElement] = [:]

    /// Reads a packet. Returns nil when it is damaged, or exceeds the limits of ``XMPDocument``. O(bytes).
    init?(_ packet: Data) {
        guard let document = XMPDocument([UInt8](packet)) else { return nil }
        // The properties of one resource may be divided among several elements.
        for description in XMPFilter.descriptions(of: document) {
            for (name, value) in description.attributes where elements[name] == nil {
                elements[name] = XMPElement(name: name, content: [.text(value)])
            }
            for property in description.children where elements[property.name] == nil {
                elements[property.name] = property
            }
        }
    }

    /// Whether the name of a property, or of a part of its value, satisfies a condition.
    func contains(_ condition: (XMPName) -> Bool) -> Bool { elements.values.contains { Self.contains(condition, $0) } }

    /// Returns the texts of a property: the items of an array in their order, or the value. Nil if there is no such
    /// property.
    func texts(_ name: XMPName) -> [String]? {
        guard let element = elements[name] else { return nil }
        return Self.items(of: element)?.map(Self.text) ?? [Self.text(of: element)]
    }

    /// Returns the first text of a property, without white space around it, or nil if it is empty. Of the alternatives
    /// in several languages, it is the one for any language, `x-default`, or the first one.
    func text(_ name: XMPName) -> String? {
        guard let element = elements[name] else { return nil }
        let language = XMPName(namespace: XMPName.xml, local: "lang")
        let items = Self.items(of: element) ?? [element]
        let item = items.first { $0.attributes.contains { $0 == (language, "x-default") } } ?? items.first
        return item.flatMap { MetadataText.trimmed(Self.text(of: $0)) }
    }

    /// Returns the number of a property, which can be a fraction such as `1/250`. Nil when it is not a finite number.
    func number(_ name: XMPName) -> Double? {
        guard let parts = text(name)?.split(separator: "/", maxSplits: 1), let first = parts.first,
            let numerator = Double(first)
        else { return nil }
        let denominator = parts.count == 2 ? Double(parts[1]) : 1
        return denominator.map { numerator / $0 }.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns the text of a field of a property that is a structure.
    func text(_ field: XMPName, of name: XMPName) -> String? {
        guard let property = elements[name] else { return nil }
        // The fields are inside the property, with `rdf:parseType`, or inside a description.
        for structure in [property] + property.children {
            if let value = structure.attributes.first(where: { $0.name == field })?.value { return value }
            if let child = structure.children.first(where: { $0.name == field }) { return Self.text(of: child) }
        }
        return nil
    }

    /// Returns the items of a property that is an array.
    private static func items(of element: XMPElement) -> [XMPElement]? {
        element.children.first?.children.filter { $0.name == .rdf("li") }
    }

    private static func contains(_ condition: (XMPName) -> Bool, _ element: XMPElement) -> Bool {
        condition(element.name) || element.attributes.contains { condition($0.name) }
            || element.children.contains { contains(condition, $0) }
    }

    private static func text(of element: XMPElement) -> String {
        element.content.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }
}
