#if GTK
    import Alcedo
    import AlcedoLibc

    /// Draws a landscape that no other number has: sky, sun or moon, hills one behind the other, sometimes a lake.
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

        /// The picture with its number on it. nil when there is no memory for it.
        ///
        /// - Parameter phase: Of an animation, from 0 to 1: the light goes up and down.
        func paint(number: Int, phase: Double = 0) -> DecodedImage? {
            let rise = Float(sin(phase * 2 * .pi)) * 14
            let pixels = PixelBuffer(size: Self.size, format: .rgbx8, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<Self.size.height {
                    // A lake shows what is above it, upside down.
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
                // Mist lies in the valleys, most of it far away.
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
#endif
