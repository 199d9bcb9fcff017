#if HEIF
    import AlcedoCore
    import Foundation
    import TestSupport

    /// One HEVC picture and its configuration, taken from a fixture, from which tests build other files.
    struct CodedPicture {
        let size: PixelSize
        /// NAL units, each after its length in four bytes.
        let payload: [UInt8]
        /// The box `hvcC`.
        let configuration: [UInt8]

        init(_ fixtureName: String) throws {
            let file = try fixture(fixtureName)
            size = PixelSize(width: 64, height: 64)
            configuration = try Self.box("hvcC", in: file)
            payload = Array(try Self.box("mdat", in: file).dropFirst(8))
        }

        private static func box(_ name: String, in file: Data) throws -> [UInt8] {
            guard let range = file.range(of: Data(name.utf8)) else { throw CocoaError(.fileReadCorruptFile) }
            let start = range.lowerBound - 4
            let size = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            return Array(file[start..<start + size])
        }

        /// Returns the picture with lengths of two bytes.
        var withShortLengths: (payload: [UInt8], configuration: [UInt8]) {
            var payload: [UInt8] = []
            var rest = self.payload[...]
            while rest.count >= 4 {
                let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                payload += HEIFBuilder.number(count, 2) + rest.dropFirst(4).prefix(count)
                rest = rest.dropFirst(4 + count)
            }
            var configuration = configuration
            configuration[8 + 21] = 0xFD
            return (payload, configuration)
        }
    }

    /// The bytes of a still image file, box by box. Sources: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12, section
    /// 6.
    struct HEIFBuilder {
        private struct Item {
            var type: String
            var payload: [UInt8]
            var properties: [[UInt8]]
        }

        private var items: [Item] = []
        private var references: [UInt8] = []
        /// The brands, of which the first is the major brand.
        var brands = ["heic", "mif1"]
        /// Whether payloads are stored in the box `idat` instead of `mdat`.
        var usesItemData = false
        /// The numbers of the items whose stored length is 0.
        var itemsWithoutLength: Set<Int> = []
        /// Whether another entry with a wrong location follows for each item.
        var repeatsLocations = false
        /// The names of properties that a reader must know.
        var essentialProperties = ["clap", "irot", "imir", "hvcC"]

        /// Adds a coded picture with further properties. Returns the number of the item, from 1. The first item is
        /// shown.
        @discardableResult
        mutating func add(_ picture: CodedPicture, _ properties: [[UInt8]] = []) -> Int {
            add("hvc1", picture.payload, [Self.extents(picture.size), picture.configuration] + properties)
        }

        /// Adds an item that joins tiles, row by row.
        @discardableResult
        mutating func addGrid(columns: Int, rows: Int, size: PixelSize, properties: [[UInt8]] = []) -> Int {
            let counts = [UInt8(rows - 1), UInt8(columns - 1)]
            let payload = [0, 0] + counts + Self.number(size.width, 2) + Self.number(size.height, 2)
            return add("grid", payload, [Self.extents(size)] + properties)
        }

        @discardableResult
        mutating func add(_ type: String, _ payload: [UInt8], _ properties: [[UInt8]] = []) -> Int {
            items.append(Item(type: type, payload: payload, properties: properties))
            return items.count
        }

        mutating func refer(_ type: String, from: Int, to: [Int]) {
            let targets = to.flatMap { Self.number($0, 2) }
            references += Self.box(type, Self.number(from, 2) + Self.number(to.count, 2) + targets)
        }

        /// The file: brands, properties, and the payloads in the order of the items.
        var data: Data {
            let head = Self.box("ftyp", Array(brands[0].utf8) + [0, 0, 0, 0] + brands.flatMap { Array($0.utf8) })
            guard !usesItemData else { return Data(head + meta(payloadStart: 0)) }
            let start = head.count + meta(payloadStart: 0).count + 8
            return Data(head + meta(payloadStart: start) + Self.box("mdat", items.flatMap(\.payload)))
        }

        private func meta(payloadStart: Int) -> [UInt8] {
            let handler = [0, 0, 0, 0, 0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13)
            let entries = items.enumerated().flatMap { index, item in
                let name = item.type == "mime" ? [0] + Array("application/rdf+xml".utf8) + [0] : [0]
                return Self.box(
                    "infe", [2, 0, 0, 0] + Self.number(index + 1, 2) + [0, 0] + Array(item.type.utf8) + name)
            }
            let boxes =
                Self.box("hdlr", handler) + Self.box("pitm", [0, 0, 0, 0, 0, 1]) + locations(payloadStart)
                + Self.box("iinf", [0, 0, 0, 0] + Self.number(items.count, 2) + entries)
                + (references.isEmpty ? [] : Self.box("iref", [0, 0, 0, 0] + references))
                + Self.box(
                    "iprp",
                    Self.box("ipco", items.flatMap { $0.properties.flatMap { $0 } }) + Self.box("ipma", associations))
                + (usesItemData ? Self.box("idat", items.flatMap(\.payload)) : [])
            return Self.box("meta", [0, 0, 0, 0] + boxes)
        }

        private func locations(_ payloadStart: Int) -> [UInt8] {
            var entries: [UInt8] = []
            var repeatedEntries: [UInt8] = []
            var offset = payloadStart
            for (index, item) in items.enumerated() {
                let entry: [UInt8] = Self.number(index + 1, 2) + [0, usesItemData ? 1 : 0, 0, 0, 0, 1]
                let length = itemsWithoutLength.contains(index + 1) ? 0 : item.payload.count
                entries += entry + Self.number(offset, 4) + Self.number(length, 4)
                repeatedEntries += entry + Self.number(0, 4) + Self.number(1, 4)
                offset += item.payload.count
            }
            if repeatsLocations { entries += repeatedEntries }
            let count = items.count * (repeatsLocations ? 2 : 1)
            return Self.box("iloc", [1, 0, 0, 0, 0x44, 0] + Self.number(count, 2) + entries)
        }

        private var associations: [UInt8] {
            var associations: [UInt8] = [0, 0, 0, 0] + Self.number(items.count, 4)
            var propertyIndex = 0
            for (index, item) in items.enumerated() {
                associations += Self.number(index + 1, 2) + [UInt8(item.properties.count)]
                for property in item.properties {
                    propertyIndex += 1
                    let isEssential = essentialProperties.contains { property[4..<8].elementsEqual($0.utf8) }
                    associations.append(UInt8(propertyIndex) | (isEssential ? 0x80 : 0))
                }
            }
            return associations
        }

        static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
            number(payload.count + 8, 4) + Array(type.utf8) + payload
        }

        static func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }

        static func extents(_ size: PixelSize) -> [UInt8] {
            box("ispe", [0, 0, 0, 0] + number(size.width, 4) + number(size.height, 4))
        }

        /// The property of an alpha image.
        static let alpha = box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:1".utf8) + [0])

        static func color(
            matrix: Int, isFullRange: Bool, primaries: Int = 1, transfer: Int = 13
        ) -> [UInt8] {
            let numbers = [primaries, transfer, matrix].flatMap { number($0, 2) }
            return box("colr", Array("nclx".utf8) + numbers + [isFullRange ? 0x80 : 0])
        }

        static func profile(_ bytes: [UInt8]) -> [UInt8] { box("colr", Array("prof".utf8) + bytes) }

        static func rotation(_ quarterTurns: Int) -> [UInt8] { box("irot", [UInt8(quarterTurns)]) }

        static func mirror(_ axis: Int) -> [UInt8] { box("imir", [UInt8(axis)]) }

        /// A crop, with the offsets of its center from the center of the image in half pixels.
        static func crop(width: Int, height: Int, halfX: Int, halfY: Int) -> [UInt8] {
            box("clap", [width, 1, height, 1, halfX, 2, halfY, 2].flatMap { number($0, 4) })
        }
    }
#endif
