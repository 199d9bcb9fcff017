#if AVIF
    import AlcedoBoxes

    /// The number of entries in the tables of a file.
    ///
    /// libavif builds a list from each table before it checks any limit. A small table can make a long list: an item
    /// may have 65,535 extents that take no bytes, and libavif reads the properties of each sample description up to
    /// the end of the table. libavif also searches its list of items from the start for each entry.
    struct AVIFTables {
        /// The maximum number of entries. libavif takes at most 2 kB for an entry. A grid of 1,024 tiles has about
        /// 10,000 entries.
        static let maximumEntryCount = 1 << 15
        /// The number of entries that a track counts as, because libavif takes about 5 kB for it.
        private static let entriesPerTrack = 16

        private(set) var entryCount = 0

        /// Adds the entries of a box `meta`. Sources: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12, section 9.3.
        ///
        /// - Returns: The offset after the last byte of all items that are stored in the file.
        @discardableResult
        mutating func addItems(_ meta: Box) -> UInt64 {
            var end: UInt64 = 0
            for box in meta.children(skipping: 4) {
                switch box.type {
                case "iloc": end = max(end, addLocations(box))
                // The sizes are those of the smallest entries.
                case "iinf": entryCount += box.payload.count / 20
                case "iref": entryCount += box.payload.count / 2
                case "iprp":
                    for part in box.children() {
                        entryCount += part.type == "ipco" ? part.children().count : part.payload.count
                    }
                default: break
                }
            }
            return end
        }

        /// Adds the entries of a box `trak`. Source: ISO/IEC 14496-12, section 8.5.2.
        mutating func addTrack(_ track: Box) {
            entryCount += Self.entriesPerTrack
            for meta in track.descendants("meta") { addItems(meta) }
            for table in track.descendants("mdia", "minf", "stbl", "stsd") {
                // For each description, libavif reads boxes of at least 8 bytes up to the end of the table. One
                // description is read once, like other boxes. The minimum keeps the product from overflowing.
                let count = min(table.children(skipping: 8).count, 1 << 20)
                if count > 1 { entryCount += count * (table.payload.count / 8) }
            }
        }

        /// Adds the items and extents of a box `iloc`, and returns the offset after the last byte of the items. Ends
        /// where libavif does: when an item is incomplete. Source: ISO/IEC 14496-12, section 8.11.3.
        private mutating func addLocations(_ list: Box) -> UInt64 {
            var end: UInt64 = 0
            var reader = list.reader
            guard let version = reader.unsigned(4).map({ $0 >> 24 }), let sizes = reader.integer(2) else { return end }
            // libavif does not read the index of an extent.
            let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
            let extentSize = offsetSize + lengthSize
            let numberSize = version < 2 ? 2 : 4
            guard let itemCount = reader.integer(numberSize) else { return end }
            for _ in 0..<itemCount {
                guard reader.advance(numberSize), let method = reader.unsigned(version == 0 ? 0 : 2),
                    let reference = reader.unsigned(2), let base = reader.unsigned(baseSize),
                    let extentCount = reader.integer(2), extentCount * extentSize <= reader.rest.count
                else { return end }
                entryCount += 1 + extentCount
                // A file with more entries is refused, so their positions are not needed.
                guard entryCount <= Self.maximumEntryCount else {
                    _ = reader.advance(extentCount * extentSize)
                    continue
                }
                for _ in 0..<extentCount {
                    guard let offset = reader.unsigned(offsetSize), let length = reader.unsigned(lengthSize) else {
                        return end
                    }
                    // Other items are in the box `idat`, in another item or in another file.
                    guard method & 15 == 0, reference == 0 else { continue }
                    let sum = base.addingReportingOverflow(offset)
                    let last = sum.partialValue.addingReportingOverflow(length)
                    end = max(end, sum.overflow || last.overflow ? .max : last.partialValue)
                }
            }
            return end
        }
    }
#endif
