import AlcedoCore

/// The median cut algorithm, which computes a palette for an image with many colors.
///
/// Colors are counted in 32,768 cells of five bits per sample. The box of all cells that contain pixels is cut at the
/// median of its longest side. Then the box with the largest product of pixels and longest side is cut. This is
/// repeated until the maximum number of colors is reached or every box is a single cell. Each color is the mean of the
/// pixels in its box, computed from all eight bits of their samples.
///
/// Source: P. Heckbert, "Color image quantization for frame buffer display", SIGGRAPH 1982.
enum MedianCut {
    private struct Cell {
        var count = 0
        var sum = SIMD3<Int>(repeating: 0)
    }

    /// A set of cells that contain pixels.
    private struct Box {
        let cells: [Int]
        /// The number of pixels in the cells.
        let count: Int
        /// The longest side of the box. `shift` extracts the position along it from a cell's number.
        let axis: (shift: Int, length: Int)

        init(_ cells: [Int], _ histogram: [Cell]) {
            self.cells = cells
            count = cells.reduce(0) { $0 + histogram[$1].count }
            let sides = [10, 5, 0].map { shift in
                let positions = cells.map { $0 >> shift & 31 }
                return (shift: shift, length: (positions.max() ?? 0) - (positions.min() ?? 0))
            }
            axis = sides.max { $0.length < $1.length } ?? (0, 0)
        }

        var weight: Int { count * axis.length }

        /// Returns the cells on both sides of the median, neither side empty, or `nil` for fewer than two cells.
        func cut(_ histogram: [Cell]) -> (Box, Box)? {
            guard axis.length > 0 else { return nil }
            let sorted = cells.sorted { ($0 >> axis.shift & 31, $0) < ($1 >> axis.shift & 31, $1) }
            var passed = 0
            let median = sorted.firstIndex {
                passed += histogram[$0].count
                return 2 * passed >= count
            }
            let end = min(max(1, (median ?? 0) + 1), sorted.count - 1)
            return (Box(Array(sorted[..<end]), histogram), Box(Array(sorted[end...]), histogram))
        }
    }

    /// Returns at most `maximumCount` colors. `maximumCount` must be at least one. Transparent pixels are ignored.
    /// Throws when the work of the thread is canceled.
    static func colors(
        of rows: [ArraySlice<UInt32>], maximumCount: Int
    ) throws(ImageEncodingError) -> [GIFColor] {
        var histogram = [Cell](repeating: Cell(), count: 1 << 15)
        for row in rows {
            try ImageEncodingError.checkCancellation(.gif)
            for pixel in row where pixel != 0 {
                let color = GIFColor(pixel)
                let cell = (color.red & ~7) << 7 | (color.green & ~7) << 2 | color.blue >> 3
                histogram[cell].count &+= 1
                histogram[cell].sum &+= SIMD3(color.red, color.green, color.blue)
            }
        }
        var boxes = [Box(histogram.indices.filter { histogram[$0].count > 0 }, histogram)]
        while boxes.count < maximumCount,
            let widest = boxes.indices.max(by: { boxes[$0].weight < boxes[$1].weight }),
            let (low, high) = boxes[widest].cut(histogram)
        {
            boxes[widest] = low
            boxes.append(high)
        }
        return boxes.filter { $0.count > 0 }.map { box in
            let sum = box.cells.reduce(SIMD3<Int>(repeating: 0)) { $0 &+ histogram[$1].sum }
            let mean = (sum &+ SIMD3(repeating: box.count / 2)) / SIMD3(repeating: box.count)
            return GIFColor(red: mean.x, green: mean.y, blue: mean.z)
        }
    }
}

/// A mapper from pixels to colors of a palette, row by row.
///
/// The color space is divided into 262,144 cells of six bits per sample. All colors in a cell are mapped to the palette
/// color nearest to its center, which is computed when the cell is first needed. Dithering diffuses errors with the
/// weights of Floyd and Steinberg, with alternating direction. Transparent pixels neither receive nor pass errors.
/// Source: R. Floyd, L. Steinberg, "An adaptive algorithm for spatial grey scale", 1976.
struct GIFColorMapper {
    private let colors: [GIFColor]
    private let dithers: Bool
    /// The index of the color nearest to the center of each cell, or -1 until it has been computed.
    private var nearest = [Int16](repeating: -1, count: 1 << 18)
    /// The errors of this row and the next in sixteenths, with one extra column at each end.
    private var errors: [SIMD4<Int32>]
    private var nextErrors: [SIMD4<Int32>]
    private var isReversed = false

    /// Creates a mapper for 1 to 256 colors.
    init(_ colors: [GIFColor], width: Int, dithers: Bool) {
        self.colors = colors
        self.dithers = dithers
        errors = Array(repeating: SIMD4(repeating: 0), count: width + 2)
        nextErrors = errors
    }

    /// Appends the indices of a row's pixels.
    mutating func append(_ row: ArraySlice<UInt32>, transparentIndex: Int, to indices: inout [UInt8]) {
        let start = indices.count
        indices.append(contentsOf: repeatElement(UInt8(truncatingIfNeeded: transparentIndex), count: row.count))
        for step in 0..<row.count {
            let x = isReversed ? row.count - 1 - step : step
            let pixel = row[row.startIndex + x]
            guard pixel != 0 else { continue }
            indices[start + x] = dithers ? dithered(pixel, at: x) : index(of: GIFColor(pixel))
        }
        guard dithers else { return }
        swap(&errors, &nextErrors)
        for x in nextErrors.indices { nextErrors[x] = SIMD4(repeating: 0) }
        isReversed.toggle()
    }

    private mutating func dithered(_ pixel: UInt32, at x: Int) -> UInt8 {
        let color = GIFColor(pixel)
        let column = x + 1
        let corrected =
            SIMD4<Int32>(Int32(color.red), Int32(color.green), Int32(color.blue), 0)
            &+ ((errors[column] &+ SIMD4(repeating: 8)) &>> SIMD4(repeating: 4))
        let clamped = corrected.clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
        let index = index(of: GIFColor(red: Int(clamped.x), green: Int(clamped.y), blue: Int(clamped.z)))
        let found = colors[Int(index)]
        let error = clamped &- SIMD4(Int32(found.red), Int32(found.green), Int32(found.blue), 0)
        let ahead = isReversed ? -1 : 1
        errors[column + ahead] &+= error &* SIMD4(repeating: 7)
        nextErrors[column - ahead] &+= error &* SIMD4(repeating: 3)
        nextErrors[column] &+= error &* SIMD4(repeating: 5)
        nextErrors[column + ahead] &+= error
        return index
    }

    private mutating func index(of color: GIFColor) -> UInt8 {
        let cell = (color.red & ~3) << 10 | (color.green & ~3) << 4 | color.blue >> 2
        if nearest[cell] >= 0 { return UInt8(truncatingIfNeeded: nearest[cell]) }
        let middle = GIFColor(red: color.red & ~3 | 2, green: color.green & ~3 | 2, blue: color.blue & ~3 | 2)
        var best = (index: 0, distance: Int.max)
        for (index, candidate) in colors.enumerated() {
            let distance = middle.distance(to: candidate)
            if distance < best.distance { best = (index, distance) }
        }
        nearest[cell] = Int16(best.index)
        return UInt8(truncatingIfNeeded: best.index)
    }
}

/// An opaque color with 8 bits per sample.
struct GIFColor {
    var red: Int
    var green: Int
    var blue: Int

    init(red: Int, green: Int, blue: Int) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Creates the color of a pixel, without its alpha.
    ///
    /// - Parameter pixel: Red, green, blue and alpha in memory order.
    init(_ pixel: UInt32) {
        let word = pixel.littleEndian
        red = Int(word & 0xFF)
        green = Int(word &>> 8 & 0xFF)
        blue = Int(word &>> 16 & 0xFF)
    }

    var bytes: [UInt8] { [red, green, blue].map { UInt8(clamping: $0) } }

    /// The opaque pixel: red, green, blue and alpha in memory order.
    var pixel: UInt32 { UInt32(littleEndian: UInt32(red | green << 8 | blue << 16) | 0xFF00_0000) }

    /// Returns the squared distance in RGB.
    func distance(to other: GIFColor) -> Int {
        let (r, g, b) = (red &- other.red, green &- other.green, blue &- other.blue)
        return r &* r &+ g &* g &+ b &* b
    }
}
