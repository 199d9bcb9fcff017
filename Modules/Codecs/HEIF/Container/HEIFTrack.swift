#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// The first frame of a sequence. Source: ISO/IEC 14496-12, section 8; ISO/IEC 23008-12, section 7.
    struct HEIFTrack {
        let properties: HEIFProperties
        /// The offsets of the coded frame in the file.
        let frame: Range<Int>

        /// Finds the first frame of the first track of HEVC pictures that is not auxiliary.
        ///
        /// - Returns: nil when there is no such track.
        /// - Throws: `corrupt`.
        init?(_ movie: Box) throws(ImageDecodingError) {
            for track in movie.children() where track.type == "trak" {
                guard track.child("tref")?.child("auxl") == nil,
                    let table = track.child("mdia")?.child("minf")?.child("stbl"),
                    let descriptions = table.child("stsd"),
                    let entry = descriptions.children(skipping: 8).first,
                    entry.type == "hvc1" || entry.type == "hev1",
                    let start = try Self.firstChunk(table), let sizes = table.child("stsz")
                else { continue }
                var reader = sizes.reader
                try reader.skip(4)
                let common = try reader.number(4)
                guard try reader.number(4) > 0 else { continue }
                let count = common > 0 ? common : try reader.number(4)
                let (end, overflow) = start.addingReportingOverflow(count)
                guard !overflow, end <= 1 << 40 else {
                    throw ImageDecodingError(.corrupt, "HEIF: a frame is outside the file")
                }
                properties = try Self.properties(of: entry)
                frame = start..<end
                return
            }
            return nil
        }

        private static func firstChunk(_ table: Box) throws(ImageDecodingError) -> Int? {
            guard let offsets = table.children().first(where: { $0.type == "stco" || $0.type == "co64" }) else {
                return nil
            }
            var reader = offsets.reader
            try reader.skip(4)
            return try reader.number(4) > 0 ? try reader.number(offsets.type == "stco" ? 4 : 8) : nil
        }

        /// Reads the properties in a sample entry. Its fields precede its boxes.
        private static func properties(of entry: Box) throws(ImageDecodingError) -> HEIFProperties {
            var properties = HEIFProperties()
            for box in entry.children(skipping: 78) { _ = try properties.read(box) }
            return properties
        }
    }
#endif
