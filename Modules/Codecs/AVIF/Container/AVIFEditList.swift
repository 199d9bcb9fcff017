#if AVIF
    import AlcedoBoxes
    import FoundationEssentials

    /// The number of plays of a sequence, which libavif before 1.0 does not write.
    ///
    /// An edit list is added to each track: one edit with the duration of the frames, which repeats for the duration of
    /// the track. Sources: ISO/IEC 14496-12, section 8.6.6; ISO/IEC 23008-12, section 9.6.1.
    struct AVIFEditList {
        /// The number of plays, at least 1.
        let playCount: Int

        /// The size of the boxes `edts` and `elst`.
        private static let byteCount = 36

        /// Returns the file with edit lists, or unchanged when libavif has written them. The file must be one of
        /// libavif.
        func added(to file: Data) -> Data {
            let positions = file.withUnsafeBytes { Positions($0.assumingMemoryBound(to: UInt8.self)) }
            guard let positions else { return file }
            // The frames, which follow, stay as they are. Another copy of them would take much memory.
            var bytes = Array(file.prefix(positions.end))
            let delta = positions.tracks.count * Self.byteCount
            for offset in positions.dataOffsets { bytes.add(delta, at: offset, 4) }
            bytes.add(delta, at: positions.movie, 4)
            // Later tracks are changed first, so the positions of the others stay valid.
            for track in positions.tracks.reversed() {
                bytes.add(Self.byteCount, at: track.box, 4)
                let duration = bytes.number(at: track.duration, track.durationSize)
                let (whole, overflow) = duration.multipliedReportingOverflow(by: UInt64(playCount))
                // All bits stand for an unlimited duration.
                let unlimited = track.durationSize == 8 ? UInt64.max : UInt64(UInt32.max)
                bytes.write(overflow ? unlimited : min(whole, unlimited), at: track.duration, track.durationSize)
                bytes.insert(contentsOf: Self.boxes(duration), at: track.headerEnd)
            }
            var result = Data(capacity: file.count + delta)
            result.append(contentsOf: bytes)
            result.append(file.dropFirst(positions.end))
            return result
        }

        private static func boxes(_ duration: UInt64) -> [UInt8] {
            var boxes = [UInt8](repeating: 0, count: byteCount)
            boxes.write(UInt64(byteCount), at: 0, 4)
            boxes.replaceSubrange(4..<8, with: "edts".utf8)
            boxes.write(UInt64(byteCount - 8), at: 8, 4)
            boxes.replaceSubrange(12..<16, with: "elst".utf8)
            boxes[19] = 1  // the flag of repetition
            boxes[23] = 1  // the number of edits
            boxes.write(min(duration, UInt64(UInt32.max)), at: 24, 4)
            boxes[33] = 1  // the media rate
            return boxes
        }
    }

    /// The positions of the numbers that change when boxes are inserted.
    private struct Positions {
        struct Track {
            let box: Int
            let headerEnd: Int
            let duration: Int
            let durationSize: Int
        }

        private(set) var movie = 0
        private(set) var tracks: [Track] = []
        /// The positions of four-byte offsets of image data, which follows the movie box.
        private(set) var dataOffsets: [Int] = []
        /// The end of the part of the file that changes.
        private(set) var end = 0

        /// Returns nil for a file with edit lists, without tracks, or with another structure than that of libavif 0.11.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            for box in BoxSequence(bytes) {
                if box.type == "meta" {
                    guard let list = box.child("iloc", skipping: 4), readItems(list) else { return nil }
                    end = max(end, box.payload.upperBound)
                }
                if box.type == "moov" {
                    movie = box.payload.lowerBound - 8
                    end = max(end, box.payload.upperBound)
                    for track in box.descendants("trak") where !readTrack(track) { return nil }
                }
                // Data before the movie box does not move.
                if box.type == "mdat", tracks.isEmpty { return nil }
            }
            guard !tracks.isEmpty else { return nil }
        }

        private mutating func readTrack(_ track: Box) -> Bool {
            guard track.child("edts") == nil, let header = track.child("tkhd"),
                let table = track.child("mdia")?.child("minf")?.child("stbl"),
                let chunks = table.child("stco"), let count = chunks.number(at: 4, 4),
                count <= UInt64((chunks.payload.count - 8) / 4)
            else { return false }
            dataOffsets += (0..<Int(count)).map { chunks.payload.lowerBound + 8 + 4 * $0 }
            let isLong = header.number(at: 0, 1) == 1
            tracks.append(
                Track(
                    box: track.payload.lowerBound - 8, headerEnd: header.payload.upperBound,
                    duration: header.payload.lowerBound + (isLong ? 28 : 20), durationSize: isLong ? 8 : 4))
            return true
        }

        private mutating func readItems(_ list: Box) -> Bool {
            // Version 0, offsets and lengths of four bytes, and no base offset.
            guard list.number(at: 0, 1) == 0, list.number(at: 4, 2) == 0x4400,
                let count = list.number(at: 6, 2)
            else { return false }
            var position = 8
            for _ in 0..<count {
                guard let extents = list.number(at: position + 4, 2) else { return false }
                dataOffsets += (0..<Int(extents)).map { list.payload.lowerBound + position + 6 + 8 * $0 }
                position += 6 + 8 * Int(extents)
            }
            return position <= list.payload.count
        }
    }

    extension [UInt8] {
        /// Returns the big-endian number of `count` bytes at a position.
        fileprivate func number(at position: Int, _ count: Int) -> UInt64 {
            self[position..<position + count].reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Writes a number of `count` bytes at a position, big-endian.
        fileprivate mutating func write(_ number: UInt64, at position: Int, _ count: Int) {
            for index in 0..<count {
                self[position + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - index)))
            }
        }

        fileprivate mutating func add(_ value: Int, at position: Int, _ count: Int) {
            write(number(at: position, count) + UInt64(value), at: position, count)
        }
    }
#endif
