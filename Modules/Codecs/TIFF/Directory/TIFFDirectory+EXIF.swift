#if TIFF
    import FoundationEssentials

    extension TIFFDirectory {
        /// The tags of the file that belong to EXIF: description, camera, orientation, resolution, software, date,
        /// artist, copyright, and the directories of EXIF and of GPS. Source: CIPA DC-008 (Exif 2.32), section 4.6.4.
        private static let exifTags: Set = [
            270, 271, 272, 274, 282, 283, 296, 305, 306, 315, 33_432, exifDirectory, gpsDirectory,
        ]
        private static let (exifDirectory, gpsDirectory, interoperabilityDirectory) = (34_665, 34_853, 40_965)

        /// Returns EXIF data with the tags of the directory. Returns nil if it has none but the orientation and the
        /// resolution, if the data would exceed a number of bytes, and for BigTIFF, whose offsets EXIF cannot store.
        ///
        /// Maker notes whose offsets count from the beginning of the file cannot be read at their new place.
        func exif(maximumByteCount: Int) -> Data? {
            let kept = entries.filter { Self.exifTags.contains($0.key) && $0.value.values != nil }.map(\.key)
            guard !structure.isBig, !Set(kept).subtracting([274, 282, 283, 296]).isEmpty else { return nil }
            var writer = EXIFWriter(structure: structure, maximumByteCount: maximumByteCount)
            writer.add(self, tags: kept, depth: 0)
            return writer.isComplete ? Data(writer.bytes) : nil
        }

        /// A copy of directories with the byte order of the file.
        private struct EXIFWriter {
            let structure: TIFFStructure
            let maximumByteCount: Int
            private(set) var bytes: [UInt8]
            private(set) var isComplete = true

            init(structure: TIFFStructure, maximumByteCount: Int) {
                self.structure = structure
                self.maximumByteCount = maximumByteCount
                bytes = structure.isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
                bytes += number(8, 4)
            }

            private func number(_ value: Int, _ count: Int) -> [UInt8] {
                let littleEndian = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
                return structure.isBigEndian ? littleEndian.reversed() : littleEndian
            }

            /// Appends a directory, and then its values and the directories that it refers to.
            mutating func add(_ directory: TIFFDirectory, tags: [Int], depth: Int) {
                let found = tags.sorted().compactMap { tag in
                    directory.entries[tag].flatMap { entry in entry.values.map { (tag, entry, $0) } }
                }
                guard hasRoom(for: 2 + 12 * found.count + 4) else { return }
                bytes += number(found.count, 2)
                let start = bytes.count
                bytes += [UInt8](repeating: 0, count: 12 * found.count + 4)
                for (index, (tag, entry, values)) in found.enumerated() {
                    if values.count > 4, !hasRoom(for: values.count + 1) { return }
                    var field = Array(structure.bytes[values])
                    if let pointer = pointer(tag, directory) {
                        field = number(bytes.count, 4)
                        // Directories of EXIF refer to no others but one, so that a loop has an end.
                        guard depth < 2 else { return isComplete = false }
                        let next = TIFFDirectory(structure, at: pointer)
                        add(next, tags: Array(next.entries.keys), depth: depth + 1)
                    } else if field.count > 4 {
                        let position = bytes.count
                        // Values begin at even offsets.
                        bytes += field + [UInt8](repeating: 0, count: field.count % 2)
                        field = number(position, 4)
                    }
                    field += [UInt8](repeating: 0, count: 4 - field.count)
                    let place = start + 12 * index
                    bytes.replaceSubrange(
                        place..<place + 12,
                        with: number(tag, 2) + number(entry.type, 2) + number(entry.count, 4) + field)
                }
            }

            /// Returns the offset of the directory that a tag refers to, or nil for other tags.
            private func pointer(_ tag: Int, _ directory: TIFFDirectory) -> Int? {
                let tags = [exifDirectory, gpsDirectory, interoperabilityDirectory]
                return tags.contains(tag) ? directory.integer(tag) : nil
            }

            private mutating func hasRoom(for count: Int) -> Bool {
                if bytes.count + count > maximumByteCount { isComplete = false }
                return isComplete
            }
        }
    }
#endif
