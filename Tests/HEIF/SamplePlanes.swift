#if HEIF
    import AlcedoCore
    import Foundation
    import TestSupport

    /// Returns a file of the directory `Fixtures`.
    func fixture(_ name: String) throws -> Data { try Bundle.module.fixture(name) }

    /// The samples of a fixture, as its formulas state, and their conversion to RGB, written independently of the
    /// decoder.
    struct SamplePlanes {
        var size = PixelSize(width: 64, height: 64)
        /// The numbers of pixels that share a color sample.
        var across = 1
        var down = 1
        var maximum = 255.0
        var weights = (red: 0.299, blue: 0.114)
        var isFullRange = true
        var luma: (Int, Int) -> Int = { 40 + 2 * $0 + $1 }
        /// The color of a pixel at the top left of those that share a sample.
        var blue: (Int, Int) -> Int = { 90 + $0 + $1 / 2 }
        var red: (Int, Int) -> Int = { 200 - $0 / 2 - 3 * ($1 / 2) }

        /// The planes of `half.heic`, `halfwidth.heic`, `full.heic` and `deep.heic`.
        static var half: Self { Self(across: 2, down: 2) }
        static var halfWidth: Self { Self(across: 2) }
        static var full: Self { Self() }
        static var deep: Self {
            Self(
                across: 2, down: 2, maximum: 1023, luma: { 100 + 12 * $0 + 2 * $1 },
                blue: { 400 + 5 * ($0 / 2) + 3 * ($1 / 2) }, red: { 800 - 4 * ($0 / 2) - 9 * ($1 / 2) })
        }

        /// Returns an image of a size that repeats these planes like tiles.
        func tiled(_ size: PixelSize) -> Self {
            var planes = self
            planes.size = size
            planes.luma = { [luma] in luma($0 % 64, $1 % 64) }
            planes.blue = { [blue] in blue($0 % 64, $1 % 64) }
            planes.red = { [red] in red($0 % 64, $1 % 64) }
            return planes
        }

        /// Returns red, green and blue of a pixel, from 0 to 1.
        func rgb(_ x: Int, _ y: Int) -> [Double] {
            let scale = (maximum + 1) / 256
            let light =
                isFullRange ? Double(luma(x, y)) / maximum : (Double(luma(x, y)) - 16 * scale) / (219 * scale)
            let (blue, red) = (color(blue, x, y), color(red, x, y))
            let green = 1 - weights.red - weights.blue
            let channels = [
                light + 2 * (1 - weights.red) * red,
                light - 2 * weights.blue * (1 - weights.blue) / green * blue
                    - 2 * weights.red * (1 - weights.red) / green * red,
                light + 2 * (1 - weights.blue) * blue,
            ]
            return channels.map { min(1, max(0, $0)) }
        }

        /// Interpolates a color plane with the weights 3/4 and 1/4 in each direction that has fewer samples.
        private func color(_ plane: (Int, Int) -> Int, _ x: Int, _ y: Int) -> Double {
            func neighbors(_ position: Int, _ step: Int, _ length: Int) -> [(position: Int, weight: Double)] {
                guard step == 2 else { return [(position, 1)] }
                let near = position / 2
                let last = (length + 1) / 2 - 1
                let far = min(last, max(0, position % 2 == 1 ? near + 1 : near - 1))
                return [(2 * near, 0.75), (2 * far, 0.25)]
            }
            var sum = 0.0
            for row in neighbors(y, down, size.height) {
                for column in neighbors(x, across, size.width) {
                    sum += row.weight * column.weight * Double(plane(column.position, row.position))
                }
            }
            let scale = (maximum + 1) / 256
            return (sum - 128 * scale) / (isFullRange ? maximum : 224 * scale)
        }

        /// Returns the largest difference of a sample of an RGBA image, in steps of its format. The decoder computes
        /// with single precision, so rounding may differ by one step.
        func maximumDifference(from pixels: PixelBuffer) -> Double {
            guard pixels.size == size else { return .infinity }
            let bytes = pixels.tightBytes
            let isDeep = pixels.format == .rgba16
            let steps = isDeep ? 65_535.0 : 255.0
            var result = 0.0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    for (channel, value) in rgb(x, y).enumerated() {
                        let index = 4 * (y * size.width + x) + channel
                        let sample =
                            isDeep ? Int(bytes[2 * index]) | Int(bytes[2 * index + 1]) << 8 : Int(bytes[index])
                        result = max(result, abs(Double(sample) - (value * steps).rounded()))
                    }
                }
            }
            return result
        }
    }

    /// The sample of `gray.heic` at a position.
    func graySample(_ x: Int, _ y: Int) -> UInt8 { UInt8(3 * x + y) }

    /// Files that are fixtures, or are made of their pictures by ``HEIFBuilder``.
    enum SampleFile: String, CaseIterable, Sendable {
        case half, gray, deep, alpha, grid, rotated, metadata

        func data() throws -> Data {
            switch self {
            case .half, .gray, .deep: return try fixture("\(rawValue).heic")
            case .alpha: return try Self.alpha(isPremultiplied: false)
            case .grid: return try Self.grid("half.heic", columns: 2, rows: 2, PixelSize(width: 128, height: 100))
            case .rotated:
                var builder = HEIFBuilder()
                builder.add(try CodedPicture("half.heic"), [HEIFBuilder.rotation(1), HEIFBuilder.mirror(0)])
                return builder.data
            case .metadata:
                // EXIF is stored after the pixels.
                var builder = HEIFBuilder()
                builder.add(try CodedPicture("gray.heic"))
                builder.add("Exif", [0, 0, 0, 0] + ImageOrientation.right.exif)
                builder.refer("cdsc", from: 2, to: [1])
                return builder.data
            }
        }

        static func alpha(isPremultiplied: Bool) throws -> Data {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.add(try CodedPicture("gray.heic"), [HEIFBuilder.alpha])
            builder.refer("auxl", from: 2, to: [1])
            if isPremultiplied { builder.refer("prem", from: 1, to: [2]) }
            return builder.data
        }

        /// Returns a file whose tiles all have the picture of a fixture.
        static func grid(_ name: String, columns: Int, rows: Int, _ size: PixelSize) throws -> Data {
            let picture = try CodedPicture(name)
            var builder = HEIFBuilder()
            builder.addGrid(columns: columns, rows: rows, size: size)
            let tiles = (0..<columns * rows).map { _ in builder.add(picture) }
            builder.refer("dimg", from: 1, to: tiles)
            return builder.data
        }
    }
#endif
