import Alcedo

/// Many pictures on one: a grid of cells of one size, each picture fitted into its cell and centred.
struct ContactSheet {
    private static let gap = 12
    private static let paper = OpaqueColor(red: 32, green: 36, blue: 40)
    private static let empty = OpaqueColor(red: 78, green: 40, blue: 40)

    /// How a sheet is divided.
    struct Grid: Sendable {
        /// Most cells in a row of a sheet that a person scrolls.
        private static let maximumColumns = 16
        /// A picture that is any smaller shows nothing.
        private static let minimumSide = 8

        /// Side of a cell's image, in pixels.
        var side = 160
        /// Cells in a row; nil for as many as make the sheet square, of up to a thousand pictures at most 16.
        var columns: Int?

        /// Fits a picture for its cell, opaque.
        func cellImage(of image: DecodedImage) throws -> DecodedImage {
            let size = PixelSize(width: side, height: side)
            return try ImageProcessors.Composition(.firstFrame, .resize(fitting: size), .flatten(onto: paper))
                .process(image)
        }

        /// Cells in a row of a sheet with so many pictures.
        func columns(for count: Int) -> Int {
            if let columns { return min(columns, max(1, count)) }
            let square = max(1, Int(Double(count).squareRoot().rounded(.up)))
            return count > 1_000 ? square : min(square, Self.maximumColumns)
        }

        /// The size of a sheet with so many pictures.
        func size(for count: Int) -> PixelSize {
            let columns = columns(for: count)
            let rows = (count + columns - 1) / columns
            let pitch = side + gap
            return PixelSize(width: columns * pitch + gap, height: rows * pitch + gap)
        }

        /// The top left corner of a cell, in pixels.
        func origin(of index: Int, of count: Int) -> (x: Int, y: Int) {
            let columns = columns(for: count)
            return (gap + index % columns * (side + gap), gap + index / columns * (side + gap))
        }

        /// The largest cells, not above ``side``, of which so many fit; nil when not even the smallest do.
        func fitting(_ count: Int, within pixelLimit: Int) -> Grid? {
            var grid = self
            while grid.size(for: count).pixelCount > pixelLimit {
                guard grid.side > Self.minimumSide else { return nil }
                grid.side -= 1
            }
            return grid
        }
    }

    let grid: Grid
    private let count: Int
    private var pixels: PixelBuffer

    /// A sheet of empty cells; nil when no buffer holds it.
    init?(_ grid: Grid, count: Int) {
        let cell = PixelSize(width: grid.side, height: grid.side)
        let size = grid.size(for: count)
        // Whole before anybody else holds it: a change would copy it then.
        let pixels = PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, stride in
            Self.fill(memory, stride, x: 0, y: 0, size: size, Self.paper)
            for index in 0..<count {
                let (x, y) = grid.origin(of: index, of: count)
                Self.fill(memory, stride, x: x, y: y, size: cell, Self.empty)
            }
        }
        guard let pixels else { return nil }
        self.grid = grid
        self.count = count
        self.pixels = pixels
    }

    var image: DecodedImage { DecodedImage(pixels: pixels) }

    /// Draws an image, which the grid has fitted, into its cell.
    mutating func draw(_ image: DecodedImage, at index: Int) {
        let (x, y) = grid.origin(of: index, of: count)
        let source = image.pixels
        let (left, top) = (x + (grid.side - source.width) / 2, y + (grid.side - source.height) / 2)
        let cell = PixelSize(width: grid.side, height: grid.side)
        change { memory, stride in
            Self.fill(memory, stride, x: x, y: y, size: cell, Self.paper)
            source.withUnsafeBytes { bytes in
                for row in 0..<source.height {
                    for column in 0..<source.width {
                        let from = row * source.bytesPerRow + column * source.format.bytesPerPixel
                        let to = (top + row) * stride + (left + column) * 4
                        let isGray = source.format == .gray8
                        for channel in 0..<3 { memory[to + channel] = bytes[from + (isGray ? 0 : channel)] }
                        memory[to + 3] = 255
                    }
                }
            }
        }
    }

    private mutating func change(_ body: (UnsafeMutableRawBufferPointer, _ stride: Int) -> Void) {
        let stride = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { body($0, stride) }
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
}
