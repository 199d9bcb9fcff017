#if GTK
    import AlcedoLibc

    /// The outline of a row of hills.
    struct SceneRidge {
        /// The first row that belongs to the hills, for each column.
        let tops: [Float]

        /// - Parameters:
        ///   - base: Where the outline lies on average, in rows from above.
        ///   - roughness: How far it goes up and down, in rows.
        ///   - trees: How high the trees on it are, in rows; nought for none.
        init(width: Int, base: Double, roughness: Double, trees: Double, _ random: inout SceneRandom) {
            let waves = (1...4).map { octave in
                (
                    height: roughness / Double(octave * octave), phase: random.next(in: 0..<6.3),
                    length: Double(octave) * random.next(in: 0.6..<1.4) * 7 / Double(width)
                )
            }
            var tops = (0..<width).map { x in
                Float(waves.reduce(base) { $0 + $1.height * sin($1.phase + $1.length * Double(x)) })
            }
            if trees > 0 { Self.plant(trees, on: &tops, &random) }
            self.tops = tops
        }

        private static func plant(_ height: Double, on tops: inout [Float], _ random: inout SceneRandom) {
            var x = random.next(in: 0..<8)
            while x < Double(tops.count) {
                let size = height * random.next(in: 0.4..<1)
                let half = size * 0.28
                let foot = tops[Int(x)]
                for column in max(0, Int(x - half))...min(tops.count - 1, Int(x + half)) {
                    let top = foot - Float(size * (1 - abs(Double(column) - x) / half))
                    tops[column] = min(tops[column], top)
                }
                x += size * random.next(in: 0.2..<1.6)
            }
        }
    }
#endif
