import Alcedo

/// Many pictures on one: a grid of cells of one size, each picture fitted into its cell and centred.
struct ContactSheet {
    /// Side of a cell's picture, in pixels.
    static let side = 160
    private static let gap = 12
    private static let paper = OpaqueColor(red: 32, green: 36, blue: 40)
    private static let empty = OpaqueColor(red: 78, green: 40, blue: 40)

    /// One picture a cell; nil where the image could not be loaded.
    let pictures: [DecodedImage?]

    /// Fits a picture for its cell, opaque.
    static func picture(of image: DecodedImage) throws -> DecodedImage {
        let small = try Resize(to: PixelSize(width: side, height: side)).process(image)
        return try Flatten(onto: paper).process(small)
    }

    /// Draws the sheet; nil when there is no picture, or no buffer holds them all.
    func draw() -> DecodedImage? {
        let columns = min(max(1, Int(Double(pictures.count).squareRoot().rounded(.up))), 16)
        let rows = (pictures.count + columns - 1) / columns
        let pitch = Self.side + Self.gap
        let size = PixelSize(width: columns * pitch + Self.gap, height: rows * pitch + Self.gap)
        let pixels = PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, stride in
            Self.fill(memory, stride, x: 0, y: 0, size: size, Self.paper)
            for (index, picture) in pictures.enumerated() {
                let x = Self.gap + index % columns * pitch
                let y = Self.gap + index / columns * pitch
                if let picture {
                    Self.place(picture.pixels, in: memory, stride, x: x, y: y)
                } else {
                    let cell = PixelSize(width: Self.side, height: Self.side)
                    Self.fill(memory, stride, x: x, y: y, size: cell, Self.empty)
                }
            }
        }
        return pixels.map { DecodedImage(pixels: $0) }
    }

    private static func fill(
        _ memory: UnsafeMutableRawBufferPointer, _ stride: Int, x: Int, y: Int, size: PixelSize, _ color: OpaqueColor
    ) {
        for row in y..<y + size.height {
            for column in x..<x + size.width {
                let offset = row * stride + column * 4
                (memory[offset], memory[offset + 1]) = (color.red, color.green)
                (memory[offset + 2], memory[offset + 3]) = (color.blue, 255)
            }
        }
    }

    private static func place(
        _ picture: PixelBuffer, in memory: UnsafeMutableRawBufferPointer, _ stride: Int, x: Int, y: Int
    ) {
        let left = x + (side - picture.width) / 2
        let top = y + (side - picture.height) / 2
        picture.withUnsafeBytes { source in
            for row in 0..<picture.height {
                for column in 0..<picture.width {
                    let from = row * picture.bytesPerRow + column * picture.format.bytesPerPixel
                    let to = (top + row) * stride + (left + column) * 4
                    let isGray = picture.format == .gray8
                    for channel in 0..<3 { memory[to + channel] = source[from + (isGray ? 0 : channel)] }
                    memory[to + 3] = 255
                }
            }
        }
    }
}
