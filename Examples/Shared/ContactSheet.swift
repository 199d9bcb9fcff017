import Alcedo

/// Many pictures on one: a grid of cells of one size, each picture fitted into its cell and centred.
struct ContactSheet {
    private static let gap = 12
    private static let paper = OpaqueColor(red: 32, green: 36, blue: 40)
    private static let empty = OpaqueColor(red: 78, green: 40, blue: 40)

    /// How a sheet is divided.
    struct Grid: Sendable {
        /// Side of a cell's picture, in pixels.
        var side = 160
        /// Cells in a row; nil for as many as make the sheet square, at most 16.
        var columns: Int?

        /// Fits a picture for its cell, opaque.
        func picture(of image: DecodedImage) throws -> DecodedImage {
            let small = try Resize(to: PixelSize(width: side, height: side)).process(image)
            return try Flatten(onto: paper).process(small)
        }

        /// Cells in a row of a sheet with so many pictures.
        func columns(for count: Int) -> Int {
            columns.map { min($0, max(1, count)) } ?? min(max(1, Int(Double(count).squareRoot().rounded(.up))), 16)
        }

        /// The size of a sheet with so many pictures.
        func size(for count: Int) -> PixelSize {
            let columns = columns(for: count)
            let rows = (count + columns - 1) / columns
            let pitch = side + gap
            return PixelSize(width: columns * pitch + gap, height: rows * pitch + gap)
        }
    }

    var grid = Grid()
    /// One picture a cell; nil where the image could not be loaded.
    let pictures: [DecodedImage?]

    /// Draws the sheet; nil when no buffer holds it.
    func draw() -> DecodedImage? {
        let columns = grid.columns(for: pictures.count)
        let side = grid.side
        let pitch = side + Self.gap
        let size = grid.size(for: pictures.count)
        let pixels = PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, stride in
            Self.fill(memory, stride, x: 0, y: 0, size: size, Self.paper)
            for (index, picture) in pictures.enumerated() {
                let x = Self.gap + index % columns * pitch
                let y = Self.gap + index / columns * pitch
                if let picture {
                    place(picture.pixels, in: memory, stride, x: x, y: y)
                } else {
                    let cell = PixelSize(width: side, height: side)
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

    private func place(
        _ picture: PixelBuffer, in memory: UnsafeMutableRawBufferPointer, _ stride: Int, x: Int, y: Int
    ) {
        let left = x + (grid.side - picture.width) / 2
        let top = y + (grid.side - picture.height) / 2
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
