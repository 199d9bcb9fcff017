import Alcedo

/// A contact sheet: a grid of cells of equal size, with one image centered in each cell.
struct ContactSheet {
    private static let gap = 12
    private static let paper = PixelColor(red: 32, green: 36, blue: 40)
    private static let empty = PixelColor(red: 78, green: 40, blue: 40)

    /// The layout of a sheet.
    struct Grid: Sendable {
        /// The maximum number of columns that are chosen for up to 1,000 images. A person scrolls such a sheet
        /// vertically.
        private static let maximumColumns = 16
        /// The minimum side of a cell's image in pixels. Smaller images are not recognizable.
        private static let minimumSide = 8

        /// The side of a cell's image in pixels. Default: 160.
        var side = 160
        /// The number of columns. If nil, the sheet is about square, with at most 16 columns for up to 1,000 images.
        var columns: Int?

        /// Returns the first frame of the image, resized to fit a cell and flattened onto the background.
        func cellImage(of image: DecodedImage) throws -> DecodedImage {
            let size = PixelSize(width: side, height: side)
            return try ImageProcessors.Composition([.firstFrame, .resize(fitting: size), .flatten(onto: paper)])
                .process(image)
        }

        /// Returns the number of columns of a sheet with `count` images.
        func columns(for count: Int) -> Int {
            if let columns { return min(columns, max(1, count)) }
            let square = max(1, Int(Double(count).squareRoot().rounded(.up)))
            return count > 1_000 ? square : min(square, Self.maximumColumns)
        }

        /// Returns the size in pixels of a sheet with `count` images.
        func size(for count: Int) -> PixelSize {
            let columns = columns(for: count)
            let rows = (count + columns - 1) / columns
            let pitch = side + gap
            return PixelSize(width: columns * pitch + gap, height: rows * pitch + gap)
        }

        /// Returns the top left corner of a cell, in pixels.
        func origin(of index: Int, of count: Int) -> (x: Int, y: Int) {
            let columns = columns(for: count)
            return (gap + index % columns * (side + gap), gap + index / columns * (side + gap))
        }

        /// Returns the grid with the largest cells, up to ``side``, with which a sheet stays within the pixel limit.
        /// Returns nil if even cells of 8 pixels exceed it.
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

    /// Creates a sheet of empty cells. Returns nil if the pixel buffer cannot be allocated.
    init?(_ grid: Grid, count: Int) {
        let cell = PixelSize(width: grid.side, height: grid.side)
        let size = grid.size(for: count)
        // The buffer is filled while it is created, because changing a buffer that has another owner copies it.
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

    /// Draws an image into its cell.
    ///
    /// - Parameters:
    ///   - image: An image that ``Grid/cellImage(of:)`` returned.
    ///   - index: The index of the cell.
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
                        let isGray = source.format.isGray
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
        _ memory: UnsafeMutableRawBufferPointer, _ stride: Int, x: Int, y: Int, size: PixelSize, _ color: PixelColor
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
