#if AVIF
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
        mutating func addItems(_ meta: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            for box in meta.children(bytes, skipping: 4) {
                switch box.type {
                case ISOBox.type("iloc"): addLocations(box, bytes)
                // The sizes are those of the smallest entries.
                case ISOBox.type("iinf"): entryCount += (box.end - box.start) / 20
                case ISOBox.type("iref"): entryCount += (box.end - box.start) / 2
                case ISOBox.type("iprp"):
                    for part in box.children(bytes) {
                        let isList = part.type == ISOBox.type("ipco")
                        entryCount += isList ? part.children(bytes).count : part.end - part.start
                    }
                default: break
                }
            }
        }

        /// Adds the entries of a box `trak`. Source: ISO/IEC 14496-12, section 8.5.2.
        mutating func addTrack(_ track: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            entryCount += Self.entriesPerTrack
            for meta in track.descendants(["meta"], bytes) { addItems(meta, bytes) }
            for table in track.descendants(["mdia", "minf", "stbl", "stsd"], bytes) {
                // For each description, libavif reads boxes of at least 8 bytes up to the end of the table. One
                // description is read once, like other boxes. The minimum keeps the product from overflowing.
                let count = min(table.children(bytes, skipping: 8).count, 1 << 20)
                if count > 1 { entryCount += count * ((table.end - table.start) / 8) }
            }
        }

        /// Adds the items and extents of a box `iloc`. Ends where libavif does: when an item is incomplete.
        private mutating func addLocations(_ list: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            guard let version = list.number(bytes, at: 0, 1), let sizes = list.number(bytes, at: 4, 2) else { return }
            let numberSize = version < 2 ? 2 : 4
            guard let itemCount = list.number(bytes, at: 6, numberSize) else { return }
            let extentSize = Int(sizes >> 12) + Int(sizes >> 8 & 15)
            // The identifier, the construction method, the data reference and the base offset.
            let headSize = numberSize + (version == 0 ? 0 : 2) + 2 + Int(sizes >> 4 & 15)
            var position = 6 + numberSize
            for _ in 0..<itemCount {
                guard let extentCount = list.number(bytes, at: position + headSize, 2) else { return }
                position += headSize + 2 + Int(extentCount) * extentSize
                guard position <= list.end - list.start else { return }
                entryCount += 1 + Int(extentCount)
            }
        }
    }
#endif
