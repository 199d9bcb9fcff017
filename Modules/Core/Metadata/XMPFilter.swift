package import FoundationEssentials

/// A filter of XMP packets. It does not edit text, but parses a packet and writes a new one that contains only the
/// properties that are kept, so that nothing else can pass.
///
/// Source: XMP specification part 1 (ISO 16684-1), sections 6 and 7; part 2, chapters 2 and 3.
struct XMPFilter {
    private let selection: MetadataSelection
    private let document: XMPDocument

    /// Returns a packet with the selected properties of a packet. Nil when the packet has none of them, is damaged, or
    /// exceeds the limits of ``XMPDocument``. O(bytes).
    static func filtered(_ packet: Data, _ selection: MetadataSelection) -> Data? {
        guard let document = XMPDocument([UInt8](packet)) else { return nil }
        return Self(selection: selection, document: document).packet()
    }

    /// Returns the elements that hold the properties of the resource, or an empty array if there is none.
    static func descriptions(of document: XMPDocument) -> [XMPElement] {
        let root = document.root
        let rdf = root.name == .rdf("RDF") ? root : root.children.first { $0.name == .rdf("RDF") }
        return rdf?.children.filter { $0.name == .rdf("Description") } ?? []
    }

    private func packet() -> Data? {
        var result = XMPElement(name: .rdf("Description"))
        result.attributes.append((.rdf("about"), ""))
        var written: Set<XMPName> = []
        // The properties of one resource may be divided among several elements.
        for description in Self.descriptions(of: document) {
            for (name, value) in description.attributes
            where name.namespace != XMPName.rdf && isKept(name) && written.insert(name).inserted {
                result.attributes.append((name, timeless(value, of: name)))
            }
            for property in description.children where isKept(property.name) && written.insert(property.name).inserted {
                result.content.append(.element(reduced(property, of: property.name)))
            }
        }
        return written.isEmpty ? nil : XMPWriter(prefixes: document.prefixes).packet(result)
    }

    private func isKept(_ name: XMPName) -> Bool {
        // A name without a namespace is not a property.
        guard !name.namespace.isEmpty, name.namespace != XMPName.xml else { return false }
        let kept = { (table: [String: Set<String>]) in
            table[name.namespace].map { $0.contains("*") || $0.contains(name.local) } ?? false
        }
        return switch selection {
        case .copyright: kept(Self.rights)
        case .withoutLocation: kept(Self.rights) || kept(Self.harmless)
        case .all: !kept(Self.fileProperties)
        }
    }

    /// Returns a property or a part of it without the parts that are not kept. A structure with the name of a kept
    /// property could otherwise hold anything.
    private func reduced(_ element: XMPElement, of property: XMPName) -> XMPElement {
        var result = XMPElement(name: element.name)
        result.attributes = element.attributes.compactMap { name, value in
            isPart(name) ? (name, timeless(value, of: property)) : nil
        }
        result.content = element.content.compactMap { node in
            switch node {
            case .text(let text): .text(timeless(text, of: property))
            case .element(let part): isPart(part.name) ? .element(reduced(part, of: property)) : nil
            }
        }
        return result
    }

    /// Whether an element or an attribute inside a kept property is kept.
    private func isPart(_ name: XMPName) -> Bool {
        if name.namespace.isEmpty { return false }
        return selection == .all || name.namespace == XMPName.rdf
            || name == XMPName(namespace: XMPName.xml, local: "lang") || isKept(name)
    }

    /// Returns a value without a time zone, which tells about the location. EXIF loses its time zones, too.
    private func timeless(_ value: String, of property: XMPName) -> String {
        guard selection == .withoutLocation, property.local.contains("Date"), let time = value.firstIndex(of: "T"),
            let zone = value[time...].firstIndex(where: { "Z+-".contains($0) })
        else { return value }
        return String(value[..<zone])
    }

    /// The creator and the rights, by namespace. An asterisk stands for every name.
    private static let rights: [String: Set<String>] = [
        XMPName.dublinCore: ["creator", "rights"],
        "http://ns.adobe.com/xap/1.0/rights/": ["*"],
        XMPName.photoshop: ["Credit"],
        XMPName.tiff: ["Artist", "Copyright"],
        "http://creativecommons.org/ns#": ["license"],
        // The owner of the copyright, and who grants licenses and where, as search engines show it. Source: PLUS
        // License Data Format 2.0.1.
        "http://ns.useplus.org/ldf/xmp/1.0/": [
            "CopyrightOwner", "CopyrightOwnerID", "CopyrightOwnerName", "Licensor", "LicensorID", "LicensorName",
            "LicensorURL",
        ],
    ]

    /// The properties that correspond to the tags of EXIF that are kept without a location.
    private static let harmless: [String: Set<String>] = [
        XMPName.dublinCore: ["title", "description"],
        XMPName.photoshop: ["AuthorsPosition", "CaptionWriter", "DateCreated", "Headline", "Source"],
        XMPName.basic: ["CreateDate", "CreatorTool", "Label", "MetadataDate", "ModifyDate", "Rating"],
        XMPName.tiff: [
            "DateTime", "ImageDescription", "Make", "Model", "ResolutionUnit", "Software", "XResolution", "YResolution",
        ],
        XMPName.exif: [
            "ApertureValue", "BrightnessValue", "Contrast", "CustomRendered", "DateTimeDigitized", "DateTimeOriginal",
            "DigitalZoomRatio", "ExifVersion", "ExposureBiasValue", "ExposureMode", "ExposureProgram", "ExposureTime",
            "FNumber", "FileSource", "Flash", "FocalLength", "FocalLengthIn35mmFilm", "GainControl", "ISOSpeedRatings",
            "LightSource", "MaxApertureValue", "MeteringMode", "Saturation", "SceneCaptureType", "SceneType",
            "SensingMethod", "Sharpness", "ShutterSpeedValue", "SubjectDistance", "SubjectDistanceRange",
            "WhiteBalance",
        ],
        XMPName.aux: ["Lens", "LensInfo", "LensSerialNumber", "OwnerName", "SerialNumber"],
        XMPName.exifEX: [
            "BodySerialNumber", "CameraOwnerName", "LensMake", "LensModel", "LensSerialNumber", "LensSpecification",
            "PhotographicSensitivity", "RecommendedExposureIndex", "SensitivityType", "StandardOutputSensitivity",
        ],
    ]

    /// The properties that describe the original file: how its rows are stored, its preview images, its colors, and the
    /// parts of the file that are not written, such as a gain map, a video or the rest of a long packet.
    private static let fileProperties: [String: Set<String>] = [
        XMPName.tiff: ["ImageLength", "ImageWidth", "Orientation", "XResolution", "YResolution"],
        XMPName.exif: ["ColorSpace", "PixelXDimension", "PixelYDimension"],
        XMPName.photoshop: ["ICCProfile"],
        XMPName.basic: ["Thumbnails"],
        "http://ns.adobe.com/xmp/note/": ["HasExtendedXMP"],
        "http://ns.adobe.com/hdr-gain-map/1.0/": ["*"],
        "http://ns.google.com/photos/1.0/container/": ["*"],
    ]
}

/// The properties of a packet that JPEG stores beside it, because a segment holds at most 65,502 bytes of a packet.
/// Source: XMP specification part 3, section 1.1.3.1.
package enum ExtendedXMP {
    private static let name = XMPName(namespace: "http://ns.adobe.com/xmp/note/", local: "HasExtendedXMP")

    /// Returns the identifier of the rest of a packet, or nil if the packet has none or is damaged. O(bytes).
    package static func identifier(of packet: Data) -> String? {
        // Few packets have a rest, and the others are not parsed.
        guard packet.firstRange(of: Data(name.local.utf8)) != nil, let document = XMPDocument([UInt8](packet)) else {
            return nil
        }
        for description in XMPFilter.descriptions(of: document) {
            if let value = description.attributes.first(where: { $0.name == name })?.value { return value }
            for property in description.children where property.name == name {
                if case .text(let text) = property.content.first { return text }
            }
        }
        return nil
    }

    /// Returns a packet with the properties of two packets, of which the first takes precedence. Nil when one of them
    /// is damaged or exceeds the limits of ``XMPDocument``. O(bytes).
    package static func joined(_ packet: Data, _ rest: Data) -> Data? {
        guard let first = XMPDocument([UInt8](packet)), let second = XMPDocument([UInt8](rest)) else { return nil }
        var result = XMPElement(name: .rdf("Description"))
        result.attributes.append((.rdf("about"), ""))
        var written: Set<XMPName> = [name]
        for description in XMPFilter.descriptions(of: first) + XMPFilter.descriptions(of: second) {
            for (name, value) in description.attributes
            where name.namespace != XMPName.rdf && !name.namespace.isEmpty && written.insert(name).inserted {
                result.attributes.append((name, value))
            }
            for property in description.children where written.insert(property.name).inserted {
                result.content.append(.element(property))
            }
        }
        return XMPWriter(prefixes: second.prefixes.merging(first.prefixes) { $1 }).packet(result)
    }
}

/// A writer of XMP packets.
private struct XMPWriter {
    /// The prefixes that the source uses for its namespaces.
    let prefixes: [String: String]

    func packet(_ description: XMPElement) -> Data {
        var names: [String: String] = [XMPName.rdf: "rdf", XMPName.xml: "xml"]
        var declarations = ""
        declare(description, &names, &declarations)
        var text = "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
        text += "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(XMPName.rdf)\"\(declarations)>"
        write(description, names, to: &text)
        text += "</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>"
        return Data(text.utf8)
    }

    /// Gives every namespace inside an element a prefix.
    private func declare(_ element: XMPElement, _ names: inout [String: String], _ declarations: inout String) {
        for uri in [element.name.namespace] + element.attributes.map(\.name.namespace) where names[uri] == nil {
            let own = prefixes[uri].flatMap { own in
                own == "x" || own.hasPrefix("ns") || names.values.contains(own) ? nil : own
            }
            let prefix = own ?? "ns\(names.count)"
            names[uri] = prefix
            declarations += " xmlns:\(prefix)=\"\(Self.escaped(uri))\""
        }
        for child in element.children { declare(child, &names, &declarations) }
    }

    private func write(_ element: XMPElement, _ names: [String: String], to text: inout String) {
        func tag(_ name: XMPName) -> String { "\(names[name.namespace] ?? "rdf"):\(name.local)" }
        text += "<\(tag(element.name))"
        for (name, value) in element.attributes { text += " \(tag(name))=\"\(Self.escaped(value))\"" }
        guard !element.content.isEmpty else {
            text += "/>"
            return
        }
        text += ">"
        for node in element.content {
            switch node {
            case .text(let part): text += Self.escaped(part, isAttribute: false)
            case .element(let child): write(child, names, to: &text)
            }
        }
        text += "</\(tag(element.name))>"
    }

    /// Returns a text with references in place of markup. Characters that XML does not allow are left out.
    private static func escaped(_ text: String, isAttribute: Bool = true) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"" where isAttribute: result += "&quot;"
            case "\r",
                "\t" where isAttribute, "\n" where isAttribute:
                result += "&#\(scalar.value);"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
