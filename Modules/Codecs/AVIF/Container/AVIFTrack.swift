#if AVIF
    import AlcedoBoxes
    import AlcedoCore

    /// The properties of one track of a sequence that libavif does not report. Source: ISO/IEC 14496-12, section 8.
    struct AVIFTrack {
        /// Whether the samples are AV1 images.
        private(set) var isAV1 = false
        /// Whether the track belongs to another track, like alpha or depth.
        private(set) var isAuxiliary = false
        /// Whether the track holds alpha; nil when the file does not state what an auxiliary track holds.
        private(set) var isAlpha: Bool?
        private(set) var size = PixelSize(width: 0, height: 0)
        /// The number of samples, which are the frames.
        private(set) var sampleCount = 0
        /// The number of runs of equal durations, or of chunks with equal numbers of samples, whichever is larger. A
        /// valid file has at most as many as samples. libavif searches them for each frame.
        private(set) var runCount = 0
        /// The numbers of successive samples with the same duration, in units of the timescale.
        private var durationRuns: [(count: Int, units: UInt64)] = []
        /// The number of plays; 0 means forever, and nil means that the file does not state it.
        private(set) var playCount: Int?

        /// The names of the type of alpha images.
        static let alphaNames = ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"]

        init(_ track: Box) {
            isAuxiliary = track.child("tref")?.child("auxl") != nil
            if let header = track.child("tkhd") {
                let isLong = header.number(at: 0, 1) == 1
                // Fixed-point numbers with 16 bits after the point.
                let width = header.number(at: isLong ? 88 : 76, 4) ?? 0
                let height = header.number(at: isLong ? 92 : 80, 4) ?? 0
                size = PixelSize(width: Int(width >> 16), height: Int(height >> 16))
                if let list = track.child("edts")?.child("elst") {
                    playCount = Self.playCount(list, header)
                }
            }
            guard let table = track.descendants("mdia", "minf", "stbl").first else { return }
            for type in ["stts", "stsc"] as [BoxType] {
                let counts = table.descendants(type).map { Int($0.number(at: 4, 4) ?? 0) }
                runCount = max(runCount, counts.reduce(0, +))
            }
            if let times = table.child("stts"), let count = times.number(at: 4, 4) {
                for index in 0..<Int(count) {
                    guard let samples = times.number(at: 8 + 8 * index, 4),
                        let units = times.number(at: 12 + 8 * index, 4)
                    else { break }
                    durationRuns.append((Int(samples), units))
                }
            }
            if let sizes = table.child("stsz"), let count = sizes.number(at: 8, 4) {
                sampleCount = Int(count)
            }
            // libavif looks at every description. The limit of frames applies only to AV1.
            let entries = table.descendants("stsd").lazy.compactMap { $0.child("av01", skipping: 8) }
            guard let entry = entries.first else { return }
            isAV1 = true
            // The fields of a visual sample entry precede its boxes.
            guard let auxiliary = entry.child("auxi", skipping: 78) else { return }
            let name = auxiliary.bytes[auxiliary.payload.dropFirst(4)].prefix { $0 != 0 }
            isAlpha = Self.alphaNames.contains { name.elementsEqual($0.utf8) }
        }

        /// Returns the durations of the first frames, rounded down to whole nanoseconds. Frames after the last run have
        /// its duration.
        ///
        /// libavif computes a duration from those of all frames before it, which takes minutes for 10,000 runs.
        ///
        /// - Parameters:
        ///   - count: The number of frames.
        ///   - timescale: The number of units per second.
        /// - Complexity: O(count).
        func durations(count: Int, timescale: UInt64) -> [Duration] {
            guard timescale > 0, timescale <= UInt64(UInt32.max) else { return Array(repeating: .zero, count: count) }
            var durations: [Duration] = []
            durations.reserveCapacity(count)
            var last = Duration.zero
            for run in durationRuns where durations.count < count {
                let (seconds, rest) = run.units.quotientAndRemainder(dividingBy: timescale)
                let nanoseconds = rest * 1_000_000_000 / timescale
                last = Duration.seconds(Int64(seconds)) + Duration.nanoseconds(Int64(nanoseconds))
                durations += repeatElement(last, count: min(run.count, count - durations.count))
            }
            durations += repeatElement(last, count: count - durations.count)
            return durations
        }

        /// Returns the number of plays of an edit list with one edit. The repeated edit fills the duration of the
        /// track.
        ///
        /// Source: ISO/IEC 14496-12, section 8.6.6; ISO/IEC 23008-12, section 9.6.1.
        private static func playCount(_ list: Box, _ header: Box) -> Int? {
            guard let listVersion = list.number(at: 0, 1), let flags = list.number(at: 1, 3),
                list.number(at: 4, 4) == 1,
                let edit = list.number(at: 8, listVersion == 1 ? 8 : 4), edit > 0
            else { return nil }
            guard flags & 1 == 1 else { return 1 }
            let isLong = header.number(at: 0, 1) == 1
            guard let whole = isLong ? header.number(at: 28, 8) : header.number(at: 20, 4) else {
                return nil
            }
            guard whole != (isLong ? UInt64.max : UInt64(UInt32.max)) else { return 0 }
            let count = whole / edit + (whole % edit > 0 ? 1 : 0)
            return max(1, Int(min(count, UInt64(Int32.max))))
        }
    }
#endif
