#if TIFF
    import Foundation

    /// Makes TIFF files without compression, independently of libtiff. The directory of each page precedes its values
    /// and its pixels. Source: TIFF 6.0, sections 2 and 15; BigTIFF.
    struct TIFFMaker {
        var isBigEndian = false
        /// Whether offsets have 64 bits.
        var isBig = false
        var pages: [Page] = []
        /// The index of the page that follows the last one, which makes a loop; nil for none.
        var pageAfterLast: Int?

        init(isBigEndian: Bool = false, isBig: Bool = false, pages: [Page] = []) {
            (self.isBigEndian, self.isBig, self.pages) = (isBigEndian, isBig, pages)
        }

        /// The values of a tag.
        struct Values {
            /// 1 for bytes, 2 for text, 3 for SHORT, 4 for LONG, 5 for RATIONAL, of which the numbers are pairs, 7 for
            /// undefined bytes.
            var type: Int
            var numbers: [Int]

            static func short(_ numbers: Int...) -> Values { Values(type: 3, numbers: numbers) }
            static func long(_ numbers: Int...) -> Values { Values(type: 4, numbers: numbers) }
            static func rational(_ numerator: Int, _ denominator: Int) -> Values {
                Values(type: 5, numbers: [numerator, denominator])
            }
            static func text(_ text: String) -> Values { Values(type: 2, numbers: text.utf8.map(Int.init) + [0]) }
            static func bytes(_ bytes: some Sequence<UInt8>) -> Values { Values(type: 7, numbers: bytes.map(Int.init)) }
        }

        /// The arrangement of the samples.
        enum Layout: CaseIterable {
            case strips, planes, tiles, tiledPlanes

            var isTiled: Bool { self == .tiles || self == .tiledPlanes }
            var isSeparate: Bool { self == .planes || self == .tiledPlanes }
        }

        /// A page whose samples are `level(x, y, k)`.
        struct Page {
            var tags: [Int: Values]
            /// The strips or tiles, each as rows of samples.
            var blocks: [[[Int]]]
            let bits: Int
            let isTiled: Bool

            /// - Parameters:
            ///   - photometric: 0 for white as the smallest number, 1 for gray, 2 for RGB, 3 for a palette, 5 for CMYK.
            ///   - blockSide: The side of tiles, a multiple of 16, or the number of rows of a strip.
            init(
                width: Int, height: Int, bits: Int = 8, samples: Int = 1, photometric: Int = 1,
                layout: Layout = .strips, blockSide: Int = 16, _ level: (_ x: Int, _ y: Int, _ k: Int) -> Int
            ) {
                self.bits = bits
                isTiled = layout.isTiled
                tags = [
                    256: .long(width), 257: .long(height),
                    258: Values(type: 3, numbers: Array(repeating: bits, count: samples)), 259: .short(1),
                    262: .short(photometric), 277: .short(samples), 284: .short(layout.isSeparate ? 2 : 1),
                ]
                if layout.isTiled {
                    tags[322] = .long(blockSide)
                    tags[323] = .long(blockSide)
                } else {
                    tags[278] = .long(blockSide)
                }
                let columns = layout.isTiled ? blockSide : width
                blocks = (layout.isSeparate ? (0..<samples).map { $0..<$0 + 1 } : [0..<samples]).flatMap { channels in
                    stride(from: 0, to: height, by: blockSide).flatMap { top in
                        stride(from: 0, to: width, by: columns).map { left in
                            let bottom = layout.isTiled ? top + blockSide : min(height, top + blockSide)
                            return (top..<bottom).map { y in
                                (left..<left + columns).flatMap { x in
                                    // The samples outside of the image may have any value.
                                    channels.map { x < width && y < height ? level(x, y, $0) : 1 }
                                }
                            }
                        }
                    }
                }
            }
        }

        var file: Data {
            var bytes: [UInt8] = isBigEndian ? [0x4D, 0x4D] : [0x49, 0x49]
            bytes += number(isBig ? 43 : 42, 2) + (isBig ? number(8, 2) + number(0, 2) : [])
            var starts: [Int] = []
            var link = bytes.count
            bytes += number(0, offsetSize)
            for page in pages {
                starts.append(bytes.count)
                bytes.replaceSubrange(link..<link + offsetSize, with: number(bytes.count, offsetSize))
                link = add(page, to: &bytes)
            }
            if let pageAfterLast {
                bytes.replaceSubrange(link..<link + offsetSize, with: number(starts[pageAfterLast], offsetSize))
            }
            return Data(bytes)
        }

        private var offsetSize: Int { isBig ? 8 : 4 }

        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let littleEndian = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isBigEndian ? littleEndian.reversed() : littleEndian
        }

        /// Adds a page. Returns the position of the link to the next one.
        private func add(_ page: Page, to bytes: inout [UInt8]) -> Int {
            let blocks = page.blocks.map { packed($0, bits: page.bits) }
            var tags = page.tags
            let (offsets, counts) = page.isTiled ? (324, 325) : (273, 279)
            // Tests may have set others.
            let setsOffsets = tags[offsets] == nil
            if setsOffsets { tags[offsets] = Values(type: 4, numbers: blocks.map { _ in 0 }) }
            tags[counts] = tags[counts] ?? Values(type: 4, numbers: blocks.map(\.count))
            let entrySize = isBig ? 20 : 12
            bytes += number(tags.count, isBig ? 8 : 2)
            let entries = bytes.count
            let link = entries + tags.count * entrySize
            bytes += [UInt8](repeating: 0, count: link - entries + offsetSize)
            var places: [Int: Int] = [:]
            for (index, (tag, values)) in tags.sorted(by: { $0.key < $1.key }).enumerated() {
                let field = data(of: values)
                let count = values.type == 5 ? values.numbers.count / 2 : values.numbers.count
                let position = entries + index * entrySize
                let head = number(tag, 2) + number(values.type, 2) + number(count, offsetSize)
                bytes.replaceSubrange(position..<position + head.count, with: head)
                var place = position + head.count
                if field.count > offsetSize {
                    bytes.replaceSubrange(place..<place + offsetSize, with: number(bytes.count, offsetSize))
                    place = bytes.count
                    bytes += field + [UInt8](repeating: 0, count: field.count % 2)
                } else {
                    bytes.replaceSubrange(place..<place + field.count, with: field)
                }
                places[tag] = place
            }
            for (index, block) in blocks.enumerated() {
                if setsOffsets, let place = places[offsets] {
                    bytes.replaceSubrange(place + 4 * index..<place + 4 * index + 4, with: number(bytes.count, 4))
                }
                bytes += block
            }
            return link
        }

        func data(of values: Values) -> [UInt8] {
            let size = [3: 2, 4: 4, 5: 4][values.type] ?? 1
            return values.numbers.flatMap { number($0, size) }
        }

        /// Returns rows of samples, each of which begins with a new byte. Samples of 16 bits have the order of the
        /// file, and others begin with their highest bit.
        private func packed(_ rows: [[Int]], bits: Int) -> [UInt8] {
            rows.flatMap { row -> [UInt8] in
                guard bits != 16 else { return row.flatMap { number($0, 2) } }
                var bytes = [UInt8](repeating: 0, count: (row.count * bits + 7) / 8)
                for (index, sample) in row.enumerated() {
                    for bit in 0..<bits where sample >> (bits - 1 - bit) & 1 == 1 {
                        let position = index * bits + bit
                        bytes[position / 8] |= 0x80 >> UInt8(position % 8)
                    }
                }
                return bytes
            }
        }
    }

    /// The color of the fixtures, which `Fixtures/make.py` repeats.
    func fixtureColor(_ x: Int, _ y: Int, _ k: Int) -> Int { [6 * x, 10 * y, x * y, 255 - 5 * x][k] & 255 }

    /// A position of an image, for the tests of its pixels.
    func forEachPixel(_ width: Int, _ height: Int, _ body: (_ x: Int, _ y: Int, _ index: Int) throws -> Void) rethrows {
        for index in 0..<width * height { try body(index % width, index / width, index) }
    }
#endif
