#if GTK
    /// Numbers that look random and are the same for a seed: a landscape is always drawn the same way.
    ///
    /// Source: SplitMix64, by Sebastiano Vigna.
    struct SceneRandom {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }

        mutating func next(in range: Range<Double>) -> Double {
            range.lowerBound + (range.upperBound - range.lowerBound) * Double(next() >> 11) * 0x1p-53
        }

        mutating func next(below count: Int) -> Int { Int(next() % UInt64(max(1, count))) }
    }
#endif
