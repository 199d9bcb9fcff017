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

        /// Returns copies of the directories of EXIF and of GPS that this directory refers to, as they are from the
        /// ninth byte of a file on, and their offsets in the file, 0 for none. Returns nil if the copies would exceed a
        /// number of bytes, and for directories that refer to each other without an end.
        fileprivate func copies(maximumByteCount: Int) -> (bytes: [UInt8], exif: Int, gps: Int)? {
            var writer = EXIFWriter(structure: structure, maximumByteCount: maximumByteCount)
            let offsets = [Self.exifDirectory, Self.gpsDirectory].map { tag in
                let source = integer(tag).map { TIFFDirectory(structure, at: $0) }
                guard let source, source.entries.contains(where: { $0.value.values != nil }) else { return 0 }
                let offset = writer.bytes.count
                writer.add(source, tags: Array(source.entries.keys), depth: 1)
                return offset
            }
            guard writer.isComplete else { return nil }
            return (bytes: Array(writer.bytes.dropFirst(8)), exif: offsets[0], gps: offsets[1])
        }

        /// Returns the text of a tag up to its first zero, or an empty array if there is none.
        fileprivate func text(_ tag: Int) -> [UInt8] {
            guard let entry = entries[tag], [2, 129].contains(entry.type), let values = entry.values else { return [] }
            return Array(structure.bytes[values].prefix { $0 != 0 })
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
                    let pointer = pointer(tag, directory)
                    if let pointer {
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
                    // Offsets of directories are a LONG in EXIF. Writers of TIFF use another type, too.
                    let (type, count) = pointer == nil ? (entry.type, entry.count) : (4, 1)
                    bytes.replaceSubrange(
                        place..<place + 12, with: number(tag, 2) + number(type, 2) + number(count, 4) + field)
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

    /// The parts of EXIF data that the encoder writes: the texts of the image, and the directories of EXIF and GPS.
    struct TIFFStoredEXIF {
        /// Whether the numbers of the data are big-endian. False if there is nothing to write.
        private(set) var isBigEndian = false
        /// The directories with their values, which begin at the ninth byte of the file. Maker notes are copied without
        /// a change, so that they need the byte order of the data.
        private(set) var directories: [UInt8] = []
        /// The offsets of the directories in the file, 0 for none.
        private(set) var exif = 0
        private(set) var gps = 0
        /// The texts in the order of ``textTags``, each with a final zero.
        private(set) var texts: [UInt8] = []

        /// Description, maker, model, software, date, artist and copyright.
        private static let textTags = [270, 271, 272, 305, 306, 315, 33_432]

        /// Reads EXIF data. Directories that refer to each other without an end, or share so many bytes that their
        /// copies have more than twice the bytes of the data, are left out, and so are damaged entries. O(bytes).
        init(_ data: [UInt8]) {
            data.withUnsafeBufferPointer { bytes in
                guard let structure = TIFFStructure(exif: bytes) else { return }
                let image = TIFFDirectory(structure, at: structure.first)
                texts = Self.textTags.flatMap { image.text($0) + [0] }
                let maximumByteCount = min(2 * bytes.count, Int(Int32.max))
                if let copies = image.copies(maximumByteCount: maximumByteCount) {
                    (directories, exif, gps) = (copies.bytes, copies.exif, copies.gps)
                }
                let isEmpty = directories.isEmpty && texts.allSatisfy { $0 == 0 }
                isBigEndian = structure.isBigEndian && !isEmpty
            }
        }
    }
#endif
