/// Finds a palette for a picture of many colours.
///
/// Colours are counted in 32768 cells of five bits a sample. The box of all cells is cut in two at the median of its
/// longest side, then again the box with most pixels times its longest side, until there are as many boxes as colours.
/// Each colour is the mean of its box's pixels, from all their bits.
///
/// Source: P. Heckbert, "Color image quantization for frame buffer display", SIGGRAPH 1982.
enum MedianCut {
    private struct Cell {
        var count = 0
        var sum = SIMD3<Int>(repeating: 0)
    }

    /// Cells that are not empty, and how far they reach.
    private struct Box {
        let cells: [Int]
        let count: Int
        /// The longest side: by how much to shift a cell's number to have its place along it, and how long it is.
        let axis: (shift: Int, length: Int)

        init(_ cells: [Int], _ histogram: [Cell]) {
            self.cells = cells
            count = cells.reduce(0) { $0 + histogram[$1].count }
            let sides = [10, 5, 0].map { shift in
                let places = cells.map { $0 >> shift & 31 }
                return (shift: shift, length: (places.max() ?? 0) - (places.min() ?? 0))
            }
            axis = sides.max { $0.length < $1.length } ?? (0, 0)
        }

        var weight: Int { count * axis.length }

        /// The cells on either side of the median, neither of them empty; nil for a single cell.
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

    /// At most `maximumCount` colours, which must be at least one. Transparent pixels do not count.
    static func colors(of rows: [ArraySlice<UInt32>], maximumCount: Int) -> [GIFColor] {
        var histogram = [Cell](repeating: Cell(), count: 1 << 15)
        for row in rows {
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
