#if SVG
    /// An estimate of the points where the lines of a path cross each other: that of lines that lie in random
    /// directions at random places within each cell of a grid.
    ///
    /// The columns and rows of the grid have about the same number of ends of lines, so lines far outside do not make
    /// the others look sparse. The memory is bounded, and adding a line takes constant time.
    struct CrossingEstimate {
        /// The positions between columns, in increasing order, with both ends of the grid.
        private let columns: [Double]
        /// The positions between rows.
        private let rows: [Double]
        /// The length of the lines in each cell, in units of the path.
        private var lengths: [Double]
        /// The length of the lines in each cell, in sides of the cell.
        private var relativeLengths: [Double]
        /// The number of cells that the lines have visited.
        private(set) var stepCount = 0
        /// The estimated number of times that a vertical line passes the height of an end of another one.
        private(set) var cutCount = 0.0
        /// The heights of ends in increasing order, followed by infinity, and the number of different heights up to
        /// each.
        private let heights: (positions: [Double], counts: [Double])

        /// The maximum number of columns, and of rows.
        private static let maximumBandCount = 32
        /// The number of cells that the lines may visit, after which there are too many crossings.
        private let maximumStepCount: Int

        /// The number of cells that the lines of all paths of a document may visit. Half a million lines across a whole
        /// path visit as many.
        static let maximumStepCount = 1 << 25

        /// Creates an estimate of the lines with these ends, to which the lines are then added.
        ///
        /// - Parameter maximumStepCount: The number of cells that the lines may visit. Default: that of a document.
        init(_ ends: PointSample, maximumStepCount: Int = Self.maximumStepCount) {
            self.maximumStepCount = maximumStepCount
            var columns = Self.edges(ends.points.map(\.x), from: ends.minimum.x, to: ends.maximum.x)
            var rows = Self.edges(ends.points.map(\.y), from: ends.minimum.y, to: ends.maximum.y)
            let (width, height) = (Self.extent(columns), Self.extent(rows))
            // Lines of one direction that lie on each other have no area.
            if width == 0 { columns = [columns[0], columns[0] + max(height, 1)] }
            if height == 0 { rows = [rows[0], rows[0] + max(width, 1)] }
            (self.columns, self.rows) = (columns, rows)
            heights = Self.heights(ends)
            lengths = Array(repeating: 0, count: (columns.count - 1) * (rows.count - 1))
            relativeLengths = lengths
        }

        /// The estimated number of crossings; infinity when the lines have visited too many cells.
        ///
        /// Lines of total length *l* in an area *a* cross each other at most π/2 times as often as *l*² / π*a*. This
        /// also holds after both axes are scaled, so the smaller number counts: that of the path itself, or that of
        /// cells that are scaled to squares.
        var count: Double {
            guard stepCount <= maximumStepCount else { return .infinity }
            var sum = 0.0
            for row in 0..<rows.count - 1 {
                for column in 0..<columns.count - 1 {
                    let index = row * (columns.count - 1) + column
                    let (length, relative) = (lengths[index], relativeLengths[index])
                    let own = length / Self.side(column, columns) * (length / Self.side(row, rows))
                    sum += min(own, relative * relative) / .pi
                }
            }
            return sum.isNaN ? .infinity : sum
        }

        /// Adds a line whose ends were sampled.
        mutating func add(_ from: SIMD2<Double>, _ to: SIMD2<Double>) {
            guard stepCount <= maximumStepCount else { return }
            let delta = to - from
            let length = (delta * delta).sum().squareRoot()
            guard length.isFinite else {
                stepCount = .max
                return
            }
            if from.x == to.x { cutCount += abs(heightCount(to.y) - heightCount(from.y)) }
            var (column, row) = (Self.band(of: from.x, columns), Self.band(of: from.y, rows))
            let (lastColumn, lastRow) = (Self.band(of: to.x, columns), Self.band(of: to.y, rows))
            var start = 0.0
            while true {
                stepCount += 1
                // The parts of the line at which it leaves the column and the row.
                let columnEnd =
                    column == lastColumn
                    ? .infinity : (columns[column < lastColumn ? column + 1 : column] - from.x) / delta.x
                let rowEnd =
                    row == lastRow ? .infinity : (rows[row < lastRow ? row + 1 : row] - from.y) / delta.y
                let end = max(start, min(columnEnd, rowEnd, 1))
                let index = row * (columns.count - 1) + column
                let relative = delta / SIMD2(Self.side(column, columns), Self.side(row, rows))
                lengths[index] += (end - start) * length
                relativeLengths[index] += (end - start) * (relative * relative).sum().squareRoot()
                if column == lastColumn, row == lastRow { return }
                if columnEnd <= rowEnd {
                    column += column < lastColumn ? 1 : -1
                } else {
                    row += row < lastRow ? 1 : -1
                }
                start = end
            }
        }

        /// Returns the different heights of a sample. A height that occurs once in it stands for others that were not
        /// sampled, half as many as the ends, because lines share each end.
        private static func heights(_ ends: PointSample) -> (positions: [Double], counts: [Double]) {
            let sorted = ends.points.map(\.y).sorted()
            let unique = max(1, Double(ends.count) / Double(2 * max(1, sorted.count)))
            var heights: (positions: [Double], counts: [Double]) = ([], [])
            var index = 0
            while index < sorted.count {
                let next = sorted[index...].firstIndex { $0 != sorted[index] } ?? sorted.count
                heights.positions.append(sorted[index])
                heights.counts.append((heights.counts.last ?? 0) + (next == index + 1 ? unique : 1))
                index = max(next, index + 1)
            }
            heights.positions.append(.infinity)
            return heights
        }

        /// Returns the estimated number of different heights up to a position.
        private func heightCount(_ position: Double) -> Double {
            guard let first = heights.positions.first, position >= first else { return 0 }
            return heights.counts[Self.band(of: position, heights.positions)]
        }

        /// Returns the band that contains a position, or the nearest one.
        private static func band(of position: Double, _ edges: [Double]) -> Int {
            var (low, high) = (0, edges.count - 1)
            // The band is at least `low` and below `high`.
            while high - low > 1 {
                let middle = (low + high) / 2
                if position < edges[middle] { high = middle } else { low = middle }
            }
            return low
        }

        private static func side(_ band: Int, _ edges: [Double]) -> Double { edges[band + 1] - edges[band] }

        private static func extent(_ edges: [Double]) -> Double { edges[edges.count - 1] - edges[0] }

        /// Returns the edges of bands that have about the same number of positions, without bands of no size. Positions
        /// that were not sampled may be in a band of their own at each end.
        private static func edges(_ positions: [Double], from first: Double, to last: Double) -> [Double] {
            let sorted = positions.sorted()
            let count = min(maximumBandCount, max(1, sorted.count / 8))
            var edges = [first]
            for edge in (0..<count).map({ sorted[$0 * sorted.count / count] }) + [sorted.last ?? last, last]
            where edge > edges[edges.count - 1] {
                edges.append(edge)
            }
            return edges
        }
    }

    /// Points of a path, at most 4,096. Of more, each is kept with the same probability.
    ///
    /// The choice differs between processes, because an attacker who knows it could make a path whose chosen points are
    /// not like the others.
    struct PointSample {
        private(set) var points: [SIMD2<Double>] = []
        /// The smallest and the largest coordinates of all points.
        private(set) var minimum = SIMD2<Double>(repeating: .infinity)
        private(set) var maximum = SIMD2<Double>(repeating: -.infinity)
        /// The number of all points.
        private(set) var count: UInt64 = 0
        private var state = seed

        private static let maximumCount = 4_096
        private static let seed = UInt64.random(in: 1 ... .max)

        mutating func add(_ point: SIMD2<Double>) {
            count += 1
            minimum = pointwiseMin(minimum, point)
            maximum = pointwiseMax(maximum, point)
            guard points.count == Self.maximumCount else {
                points.append(point)
                return
            }
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            // The high half of the product is a number below the count.
            let index = Int(state.multipliedFullWidth(by: count).high)
            if index < Self.maximumCount { points[index] = point }
        }
    }
#endif
