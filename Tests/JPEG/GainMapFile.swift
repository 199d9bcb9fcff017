import Foundation

/// A file with a gain map, as "Ultra HDR image format" describes it: an image, an index of images, and the map.
struct GainMapFile {
    /// The image, without an index.
    var image: Data
    /// The map, without its numbers.
    var map: Data
    /// The properties of XMP.
    var properties = ["Version": "1.0", "GainMapMax": "2", "HDRCapacityMax": "2"]
    /// The binary numbers, or nil to write the properties.
    var numbers: [UInt8]?
    /// The segment with the packet of the map, or nil to write the properties.
    var packet: [UInt8]?
    /// Whether the properties are written beside the binary numbers.
    var hasBothForms = false
    /// The images between the image and the map.
    var otherImages: [Data] = []
    /// The offset of the map that the index states, or nil for the right one.
    var offset: Int?
    /// The number of bytes of the map that the index states, or nil for the right one.
    var byteCount: Int?

    static let isoName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    /// Returns a packet with the properties. Those with several values are elements, and the others are attributes.
    ///
    /// - Parameters:
    ///   - properties: The values, separated by commas.
    ///   - others: Further elements. Default: none.
    static func packet(_ properties: [String: String], others: String = "") -> [UInt8] {
        let single = properties.filter { !$0.value.contains(",") }.map { " hdrgm:\($0.key)='\($0.value)'" }
        let several = properties.filter { $0.value.contains(",") }.map { name, values in
            let items = values.split(separator: ",").map { "<rdf:li>\($0)</rdf:li>" }
            return "<hdrgm:\(name)><rdf:Seq>\(items.joined())</rdf:Seq></hdrgm:\(name)>"
        }
        let text = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"\(single.joined())>\
            \(several.joined())\(others)</rdf:Description></rdf:RDF></x:xmpmeta>
            """
        return JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0\(text)".utf8))
    }

    static func bigEndian(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// The segments for the forms of the numbers.
    private func forms(properties: [UInt8], numbers: [UInt8]?) -> [UInt8] {
        guard let numbers else { return properties }
        return (hasBothForms ? properties : []) + JPEGEditor.segment(0xE2, Self.isoName + numbers)
    }

    /// The map with its numbers.
    var mapFile: Data {
        JPEGEditor.inserting(forms(properties: packet ?? Self.packet(properties), numbers: numbers), into: map)
    }

    var data: Data {
        let mapFile = mapFile
        // The list of images of Google's form, which has no offsets, and the versions of the numbers.
        let list = """
            <Container:Directory xmlns:Container="http://ns.google.com/photos/1.0/container/"><rdf:Seq>\
            <rdf:li rdf:parseType="Resource"><Container:Item \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" Item:Semantic="GainMap" \
            Item:Mime="image/jpeg" Item:Length="\(mapFile.count)"/></rdf:li></rdf:Seq></Container:Directory>
            """
        let mark = forms(
            properties: Self.packet(["Version": "1.0"], others: list), numbers: numbers.map { _ in [0, 0, 0, 0] })
        let images = otherImages + [mapFile]
        let count = images.count + 1
        // Offsets begin at the header of the index, which is 10 bytes after the start of the file.
        let size = 58 + 16 * count + mark.count + image.count
        var index = Array("MPF\0MM\0*".utf8) + [0, 0, 0, 8, 0, 3]
        index += [0xB0, 0, 0, 7, 0, 0, 0, 4] + Array("0100".utf8)
        index += [0xB0, 1, 0, 4, 0, 0, 0, 1] + Self.bigEndian(count)
        index += [0xB0, 2, 0, 7] + Self.bigEndian(16 * count) + [0, 0, 0, 50, 0, 0, 0, 0]
        index += Self.bigEndian(0x3_0000) + Self.bigEndian(size) + [0, 0, 0, 0, 0, 0, 0, 0]
        var start = size - 10
        for other in otherImages {
            index += Self.bigEndian(0) + Self.bigEndian(other.count) + Self.bigEndian(start) + [0, 0, 0, 0]
            start += other.count
        }
        index += Self.bigEndian(0) + Self.bigEndian(byteCount ?? mapFile.count)
        index += Self.bigEndian(offset ?? start) + [0, 0, 0, 0]
        let file = JPEGEditor.inserting(JPEGEditor.segment(0xE2, index) + mark, into: image)
        return images.reduce(file, +)
    }
}
