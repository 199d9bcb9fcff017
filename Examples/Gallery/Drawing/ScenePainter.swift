#if GTK
    import Alcedo
    import Foundation

    /// A painter of a landscape that is unique to a number: a sky, the sun or the moon, rows of hills, and sometimes a
    /// lake.
    struct ScenePainter {
        static let size = PixelSize(width: 400, height: 300)
        private static let ridgeCount = 5

        private let palette: ScenePalette
        private let ridges: [SceneRidge]
        private let light: (x: Float, y: Float, radius: Float)
        private let shore: Int
        private let seed: UInt64

        init(number: Int) {
            var random = SceneRandom(seed: UInt64(number) &+ 1)
            let (width, height) = (Self.size.width, Double(Self.size.height))
            palette = ScenePalette.all[number % ScenePalette.all.count]
            light = (
                Float(random.next(in: 0.15..<0.85)) * Float(width), Float(random.next(in: 0.15..<0.45) * height),
                Float(random.next(in: 10..<26))
            )
            shore = random.next(below: 3) == 0 ? Int(height * 0.74) : Int(height)
            let hasTrees = random.next(below: 2) == 0
            let steepness = random.next(in: 0.5..<1.5)
            ridges = (0..<Self.ridgeCount).map { index in
                let depth = Double(index) / Double(Self.ridgeCount - 1)
                return SceneRidge(
                    width: width, base: height * (0.44 + 0.36 * depth), roughness: height * 0.07 * steepness,
                    trees: hasTrees && index >= Self.ridgeCount - 2 ? 12 + 22 * depth : 0, &random)
            }
            seed = random.next()
        }

        /// Draws the landscape with its number. Returns nil if there is no memory for it.
        ///
        /// - Parameters:
        ///   - number: The number to draw.
        ///   - phase: The phase of an animation, from 0 to 1, in which the light moves up and down.
        func paint(number: Int, phase: Double = 0) -> DecodedImage? {
            let rise = Float(sin(phase * 2 * .pi)) * 14
            let pixels = PixelBuffer(size: Self.size, format: .rgbx8, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<Self.size.height {
                    // A lake mirrors the scene above it.
                    let isWater = y >= shore
                    let seen = isWater ? 2 * shore - y + Int(sin(Float(y) * 0.9) * 1.5) : y
                    for x in 0..<Self.size.width {
                        var color = color(x, max(0, seen), rise)
                        if isWater { color = color * 0.72 + palette.horizon * 0.08 }
                        let bytes = SIMD3<UInt8>(clamping: SIMD3<Int32>(color * 255))
                        memory.storeBytes(
                            of: SIMD4(bytes.x, bytes.y, bytes.z, 255), toByteOffset: y * bytesPerRow + x * 4,
                            as: SIMD4<UInt8>.self)
                    }
                }
                NumberCode(number: number).draw(in: Self.size) { x, y, level in
                    memory.storeBytes(
                        of: SIMD4(level, level, level, 255), toByteOffset: y * bytesPerRow + x * 4,
                        as: SIMD4<UInt8>.self)
                }
            }
            return pixels.map { DecodedImage(pixels: $0) }
        }

        private func color(_ x: Int, _ y: Int, _ rise: Float) -> ScenePalette.Color {
            for (index, ridge) in ridges.enumerated().reversed() where Float(y) >= ridge.tops[x] {
                let depth = Float(index) / Float(Self.ridgeCount - 1)
                let hill = palette.farHill + (palette.nearHill - palette.farHill) * depth
                // Mist covers the valleys, most of all the distant ones.
                let mist = min(1, (Float(y) - ridge.tops[x]) / 90) * 0.45 * (1 - depth)
                return hill + (palette.horizon - hill) * mist
            }
            return sky(x, y, rise)
        }

        private func sky(_ x: Int, _ y: Int, _ rise: Float) -> ScenePalette.Color {
            let down = min(1, Float(y) / (Float(Self.size.height) * 0.62))
            var color = palette.zenith + (palette.horizon - palette.zenith) * down * down * (3 - 2 * down)
            let (across, along) = (Float(x) - light.x, Float(y) - light.y - rise)
            let distance = (across * across + along * along).squareRoot()
            if palette.hasStars, distance > light.radius * 2, Self.isStar(x, y, seed) {
                color += palette.light * (0.75 * (1 - down))
            }
            let glow = 0.5 / (1 + distance * distance / (light.radius * light.radius * 6))
            let disc = min(1, max(0, light.radius - distance + 0.5))
            return color + (palette.light - color) * max(glow, disc)
        }

        private static func isStar(_ x: Int, _ y: Int, _ seed: UInt64) -> Bool {
            var random = SceneRandom(seed: seed &+ UInt64(y * 4096 + x))
            return random.next(below: 420) == 0
        }
    }

    /// The outline of a row of hills.
    private struct SceneRidge {
        /// The first row that belongs to the hills, for each column.
        let tops: [Float]

        /// Creates an outline.
        ///
        /// - Parameters:
        ///   - width: The number of columns.
        ///   - base: The average row of the outline, counted from the top.
        ///   - roughness: The amplitude of the outline, in rows.
        ///   - trees: The height of the trees, in rows; zero for no trees.
        ///   - random: The source of random numbers.
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

    /// The colors of a time of day, with components from 0 to 1.
    struct ScenePalette {
        typealias Color = SIMD3<Float>

        var name: String
        var zenith: Color
        var horizon: Color
        var light: Color
        var farHill: Color
        var nearHill: Color
        var hasStars = false

        static let all = [
            ScenePalette(
                name: "Dawn", zenith: hex(0x2B3A67), horizon: hex(0xF7B7A3), light: hex(0xFFE3B8),
                farHill: hex(0xB98FA6), nearHill: hex(0x2A2140)),
            ScenePalette(
                name: "Clear", zenith: hex(0x2F7FC1), horizon: hex(0xCFE8F5), light: hex(0xFFFFFF),
                farHill: hex(0x8FB3C9), nearHill: hex(0x1F4A3A)),
            ScenePalette(
                name: "Golden", zenith: hex(0x6E4A7E), horizon: hex(0xFFC46B), light: hex(0xFFF1C9),
                farHill: hex(0xD98E5F), nearHill: hex(0x3A1F2B)),
            ScenePalette(
                name: "Misty", zenith: hex(0x8FA3AD), horizon: hex(0xE6ECEC), light: hex(0xF8FBFA),
                farHill: hex(0xBECBCD), nearHill: hex(0x33484E)),
            ScenePalette(
                name: "Starry", zenith: hex(0x070B22), horizon: hex(0x2C3F73), light: hex(0xE9EDFF),
                farHill: hex(0x24325C), nearHill: hex(0x05070F), hasStars: true),
            ScenePalette(
                name: "Winter", zenith: hex(0x6FA0CF), horizon: hex(0xF3E7EF), light: hex(0xFFF7F0),
                farHill: hex(0xD5DFEC), nearHill: hex(0x5C7596)),
            ScenePalette(
                name: "Desert", zenith: hex(0x3E7CA6), horizon: hex(0xF6DDB0), light: hex(0xFFF6D8),
                farHill: hex(0xDDAA73), nearHill: hex(0x8A4B2A)),
            ScenePalette(
                name: "Northern", zenith: hex(0x04141F), horizon: hex(0x1D6E63), light: hex(0xC9FFE6),
                farHill: hex(0x14474A), nearHill: hex(0x030B0E), hasStars: true),
        ]

        private static func hex(_ value: Int) -> Color {
            Color(Float(value >> 16), Float(value >> 8 & 255), Float(value & 255)) / 255
        }
    }

    /// A pseudorandom generator that returns the same numbers for the same seed, so that a landscape is always drawn
    /// the same way.
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
