package import AlcedoCore

/// Images in which the faults of a reduction show. Equal in every run. Sides are multiples of 32, so that every scale
/// of a JPEG is used.
package enum DrawnImage: String, CaseIterable, Sendable {
    /// Noise with the spectrum of a photo.
    case photo
    /// Smooth ramps of the three colors.
    case gradient
    /// Gray stripes with a period of 4.5 pixels, which a reduction must blend to flat gray.
    case stripes
    /// Black strokes of one pixel, which look like text at this distance.
    case text
    /// Strokes in saturated colors.
    case coloredText

    package static let size = PixelSize(width: 3_840, height: 320)

    /// Returns the image, or nil without memory for it.
    package func image() -> DecodedImage? {
        PixelBuffer(size: Self.size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
            let canvas = Canvas(memory: memory, bytesPerRow: bytesPerRow)
            switch self {
            case .photo: canvas.drawPhoto()
            case .gradient:
                canvas.draw { x, y in
                    (
                        UInt8(x * 255 / (Self.size.width - 1)), UInt8(y * 255 / (Self.size.height - 1)),
                        UInt8((x + y) / 17)
                    )
                }
            case .stripes:
                let period: [UInt8] = [8, 64, 225, 225, 64, 8, 150, 255, 150]
                canvas.draw { x, _ in (period[x % 9], period[x % 9], period[x % 9]) }
            case .text: canvas.drawText([(10, 10, 10)])
            case .coloredText: canvas.drawText([(220, 30, 30), (20, 130, 40), (30, 60, 220), (200, 0, 200)])
            }
        }.map { DecodedImage(pixels: $0) }
    }
}

private struct Canvas {
    typealias Color = (red: UInt8, green: UInt8, blue: UInt8)

    let memory: UnsafeMutableRawBufferPointer
    let bytesPerRow: Int

    private func set(_ x: Int, _ y: Int, _ color: Color) {
        let pixel = UInt32(color.red) | UInt32(color.green) << 8 | UInt32(color.blue) << 16 | 255 << 24
        memory.storeBytes(of: pixel.littleEndian, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
    }

    func draw(_ color: (_ x: Int, _ y: Int) -> Color) {
        for y in 0..<DrawnImage.size.height {
            for x in 0..<DrawnImage.size.width { set(x, y, color(x, y)) }
        }
    }

    /// Draws letters of two strokes on white, each in one of the colors.
    func drawText(_ colors: [Color]) {
        var random = SeededGenerator(seed: 5)
        draw { _, _ in (255, 255, 255) }
        for line in stride(from: 8, to: DrawnImage.size.height - 16, by: 16) {
            for letter in stride(from: 20, to: DrawnImage.size.width - 30, by: 8)
            where Int.random(in: 0..<7, using: &random) > 0 {
                let (row, column) = (Int.random(in: 0..<9, using: &random), Int.random(in: 0..<5, using: &random))
                let color = colors[Int.random(in: colors.indices, using: &random)]
                for y in 0..<9 { set(letter + column, line + y, color) }
                for x in 0..<6 { set(letter + x, line + row, color) }
            }
        }
    }

    func drawPhoto() {
        let (light, tint) = (Self.noise(from: 4, seed: 1), Self.noise(from: 32, seed: 2))
        var random = SeededGenerator(seed: 3)
        draw { x, y in
            let index = y * DrawnImage.size.width + x
            let level = 128 + 150 * light[index] + Float(random.next() % 8) - 4
            let red = level + 60 * tint[index]
            let blue = level - 60 * tint[index]
            return (UInt8(max(0, min(255, red))), UInt8(max(0, min(255, level))), UInt8(max(0, min(255, blue))))
        }
    }

    /// Returns noise whose amplitude grows with the size of its details, which begin at `smallest` pixels.
    private static func noise(from smallest: Int, seed: UInt64) -> [Float] {
        var random = SeededGenerator(seed: seed)
        let (width, height) = (DrawnImage.size.width, DrawnImage.size.height)
        var sum = [Float](repeating: 0, count: width * height)
        var cell = smallest
        while cell <= 256 {
            let (columns, rows) = (width / cell + 2, height / cell + 2)
            let grid = (0..<columns * rows).map { _ in Float.random(in: -1...1, using: &random) * Float(cell) / 256 }
            sum.withUnsafeMutableBufferPointer { sum in
                for y in 0..<height {
                    let (row, part) = (y / cell, Float(y % cell) / Float(cell))
                    let line = (0..<columns).map { column in
                        grid[row * columns + column] * (1 - part) + grid[(row + 1) * columns + column] * part
                    }
                    for x in 0..<width {
                        let (column, part) = (x / cell, Float(x % cell) / Float(cell))
                        sum[y * width + x] += line[column] * (1 - part) + line[column + 1] * part
                    }
                }
            }
            cell *= 2
        }
        return sum
    }
}
