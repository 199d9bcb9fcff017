#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import Foundation

    /// One AV1 image and its configuration, taken from a file of the encoder, from which tests build other files.
    struct CodedImage {
        let size: PixelSize
        /// The coded image.
        let payload: [UInt8]
        /// The box `av1C`.
        let configuration: [UInt8]
        let channelCount: Int

        /// Encodes opaque pixels without loss.
        init(_ pixels: PixelBuffer) throws {
            let encoder = AVIFEncoder(compression: .lossless, speed: 10)
            let file = try encoder.encode(DecodedImage(pixels: pixels.reinterpreted(as: .opaque)))
            size = pixels.size
            channelCount = pixels.format == .gray8 ? 1 : 3
            configuration = try CodedImage.box("av1C", in: file)
            payload = Array(try CodedImage.box("mdat", in: file).dropFirst(8))
        }

        /// Returns the first box with a name, which must not be part of other bytes of the file.
        static func box(_ name: String, in file: Data) throws -> [UInt8] {
            guard let range = file.range(of: Data(name.utf8)) else { throw CocoaError(.fileReadCorruptFile) }
            let start = range.lowerBound - 4
            let size = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            return Array(file[start..<start + size])
        }
    }

    /// The bytes of a still image file, box by box. Source: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12, section
    /// 6.
    struct AVIFBuilder {
        private struct Item {
            var type: String
            var payload: [UInt8]
            var properties: [[UInt8]]
        }

        private var items: [Item] = []
        private var references: [UInt8] = []
        /// The brands, of which the first is the major brand.
        var brands = ["avif", "mif1", "miaf"]

        /// Adds a coded image with further properties. Returns the number of the item, from 1. The first item is shown.
        @discardableResult
        mutating func add(_ image: CodedImage, _ properties: [[UInt8]] = []) -> Int {
            add(
                "av01", image.payload, [Self.extents(image.size), image.configuration, Self.depths(image)] + properties)
        }

        /// Adds an item that joins tiles, row by row.
        @discardableResult
        mutating func addGrid(columns: Int, rows: Int, size: PixelSize, properties: [[UInt8]] = []) -> Int {
            let counts = [UInt8(rows - 1), UInt8(columns - 1)]
            let payload = [0, 0] + counts + Self.number(size.width, 2) + Self.number(size.height, 2)
            return add("grid", payload, [Self.extents(size)] + properties)
        }

        /// Returns a file with a grid of equal tiles, which declare a size.
        static func grid(
            columns: Int, rows: Int, _ size: PixelSize, of tile: CodedImage, _ tileSize: PixelSize
        ) -> Data {
            var builder = AVIFBuilder()
            builder.addGrid(columns: columns, rows: rows, size: size, properties: [rgb])
            let numbers = (0..<columns * rows).map { _ in
                builder.add("av01", tile.payload, [extents(tileSize), tile.configuration])
            }
            builder.refer("dimg", from: 1, to: numbers)
            return builder.data
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
            let start = head.count + meta(payloadStart: 0).count + 8
            return Data(head + meta(payloadStart: start) + Self.box("mdat", items.flatMap(\.payload)))
        }

        private func meta(payloadStart: Int) -> [UInt8] {
            var locations: [UInt8] = []
            var offset = payloadStart
            for (index, item) in items.enumerated() {
                locations += Self.number(index + 1, 2) + [0, 0, 0, 1] + Self.number(offset, 4)
                locations += Self.number(item.payload.count, 4)
                offset += item.payload.count
            }
            let entries = items.enumerated().flatMap { index, item in Self.entry(index + 1, type: item.type) }
            var associations: [UInt8] = []
            var propertyIndex = 0
            for (index, item) in items.enumerated() {
                associations += Self.number(index + 1, 2) + [UInt8(item.properties.count)]
                for property in item.properties {
                    propertyIndex += 1
                    let isEssential = ["clap", "irot", "imir", "av1C", "lsel"].contains {
                        property[4..<8].elementsEqual($0.utf8)
                    }
                    associations.append(UInt8(propertyIndex) | (isEssential ? 0x80 : 0))
                }
            }
            let handler = [0, 0, 0, 0, 0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13)
            let boxes =
                Self.box("hdlr", handler) + Self.box("pitm", [0, 0, 0, 0, 0, 1])
                + Self.box("iloc", [0, 0, 0, 0, 0x44, 0] + Self.number(items.count, 2) + locations)
                + Self.box("iinf", [0, 0, 0, 0] + Self.number(items.count, 2) + entries)
                + (references.isEmpty ? [] : Self.box("iref", [0, 0, 0, 0] + references))
                + Self.box(
                    "iprp",
                    Self.box("ipco", items.flatMap { $0.properties.flatMap { $0 } })
                        + Self.box("ipma", [0, 0, 0, 0] + Self.number(items.count, 4) + associations))
            return Self.box("meta", [0, 0, 0, 0] + boxes)
        }

        /// Returns the box `infe` of an item. The only items with a media type are those of XMP.
        private static func entry(_ identifier: Int, type: String) -> [UInt8] {
            let start: [UInt8] = [2, 0, 0, 0] + number(identifier, 2) + [0, 0]
            let mediaType = type == "mime" ? "application/rdf+xml\0" : ""
            return box("infe", start + Array(type.utf8) + [0] + Array(mediaType.utf8))
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

        private static func depths(_ image: CodedImage) -> [UInt8] {
            box("pixi", [0, 0, 0, 0, UInt8(image.channelCount)] + [UInt8](repeating: 8, count: image.channelCount))
        }

        /// The property of an alpha image.
        static let alpha = box(
            "auxC", [0, 0, 0, 0] + Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha".utf8) + [0])
        /// RGB in green, blue and red planes with the full range.
        static let rgb = box("colr", Array("nclx".utf8) + [0, 1, 0, 13, 0, 0, 0x80])

        /// The properties of an image of two layers that are shown one after another.
        static func layers(firstByteCount: Int) -> [[UInt8]] {
            [box("lsel", [0xFF, 0xFF]), box("a1lx", [0] + number(firstByteCount, 2) + [0, 0, 0, 0])]
        }

        static func rotation(_ quarterTurns: Int) -> [UInt8] { box("irot", [UInt8(quarterTurns)]) }

        static func mirror(_ axis: Int) -> [UInt8] { box("imir", [UInt8(axis)]) }

        /// A crop, with the offsets of its center from the center of the image in half pixels.
        static func crop(width: Int, height: Int, halfX: Int, halfY: Int) -> [UInt8] {
            box("clap", [width, 1, height, 1, halfX, 2, halfY, 2].flatMap { number($0, 4) })
        }
    }
#endif
