/// The counted colors of an image, from which a palette is computed.
///
/// Colors are compared with alpha multiplied in, so that a color counts as much as it shows. They are collected in at
/// most 32,768 cells, first of one color each. When there are more, all cells lose a bit of each sample. The box of all
/// cells is cut at the position, perpendicular to its axis of largest variance, that leaves the smallest squared error.
/// Then the box with the largest squared error is cut, until the maximum number of colors is reached. Each color is the
/// mean of the pixels in its box. Finally, cells move to the color that is nearest to them, and colors become the means
/// of their cells again, a few times.
///
/// Opaque pixels get opaque colors, and fully transparent ones get transparent black.
///
/// Sources: X. Wu, "Efficient statistical computations for optimal color quantization", Graphics Gems II, 1991;
/// S. Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory, 1982.
package struct ColorHistogram: Sendable {
    /// The maximum number of bytes that a histogram, its palette and a ``PaletteMapper`` hold, apart from the rows.
    package static let maximumByteCount = 8 << 20

    private static let maximumCellCount = 1 << 15
    private static let slotCount = 2 * maximumCellCount

    /// The pixels of one cell.
    private struct Cell {
        /// The samples that the pixels have in common, and a set bit 24 if they are opaque.
        let key: UInt32
        var count = 0
        /// The sums of red, green and blue, each multiplied by alpha, and of alpha multiplied by 255.
        var red = 0, green = 0, blue = 0, alpha = 0

        init(key: UInt32) { self.key = key }

        var isOpaque: Bool { alpha == count * 255 * 255 }
    }

    private var cells: [Cell] = []
    /// An open-addressing hash table with the position of each cell, or -1 for a free slot.
    private var slots = [Int32](repeating: -1, count: slotCount)
    /// The number of bits that each sample has lost.
    private var lostBits: UInt32 = 0
    /// Whether a pixel is fully transparent.
    package private(set) var hasTransparent = false

    package init() {}

    /// Adds the pixels of a row in straight or opaque RGBA8.
    package mutating func add(_ row: RawSpan) {
        var last: (pixel: UInt32, cell: Int) = (0, -1)
        for offset in stride(from: 0, through: row.byteCount - 4, by: 4) {
            let pixel = UInt32(littleEndian: row.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
            let alpha = Int(pixel &>> 24)
            guard alpha > 0 else {
                hasTransparent = true
                continue
            }
            if pixel != last.pixel || last.cell < 0 {
                let color = pixel.multipliedByAlpha
                var cell = insert(key(color))
                while cell < 0 {
                    loseBit()
                    cell = insert(key(color))
                }
                last = (pixel, cell)
            }
            cells[last.cell].count &+= 1
            cells[last.cell].red &+= Int(pixel & 255) &* alpha
            cells[last.cell].green &+= Int(pixel &>> 8 & 255) &* alpha
            cells[last.cell].blue &+= Int(pixel &>> 16 & 255) &* alpha
            cells[last.cell].alpha &+= 255 &* alpha
        }
    }

    /// Returns the key of the cell of a color, which is multiplied by alpha.
    private func key(_ color: UInt32) -> UInt32 {
        let mask = (255 &<< lostBits & 255) &* 0x0101_0101
        return color & mask | (color &>> 24 == 255 ? 1 &<< 24 : 0)
    }

    /// Returns the position of the cell with a key, which is created if there is none, or -1 when there are too many.
    private mutating func insert(_ key: UInt32) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        var slot = Int((key &* 0x9E37_79B1) &>> 16)
        while slots[slot] >= 0 {
            if cells[Int(slots[slot])].key == key { return Int(slots[slot]) }
            slot = (slot &+ 1) & (Self.slotCount &- 1)
        }
        guard cells.count < Self.maximumCellCount else { return -1 }
        slots[slot] = Int32(truncatingIfNeeded: cells.count)
        cells.append(Cell(key: key))
        return cells.count &- 1
    }

    /// Combines the cells that differ only in the lowest bits.
    private mutating func loseBit() {
        lostBits += 1
        let finer = cells
        cells.removeAll(keepingCapacity: true)
        for slot in slots.indices { slots[slot] = -1 }
        for cell in finer {
            let color = cell.isOpaque ? cell.key | 255 &<< 24 : cell.key
            let index = insert(key(color))
            cells[index].count += cell.count
            cells[index].red += cell.red
            cells[index].green += cell.green
            cells[index].blue += cell.blue
            cells[index].alpha += cell.alpha
        }
    }

    /// Returns at most `maximumCount` different colors, each with the bytes of a straight pixel in memory order.
    /// Transparent black, if there are such pixels, is the last one.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of colors, at least 2.
    ///   - format: The format of the file, for errors.
    /// - Throws: ``ImageEncodingError`` `failed` when the work of the thread is canceled.
    package func palette(maximumCount: Int, for format: ImageFormat) throws(ImageEncodingError) -> [UInt32] {
        let visibleCount = maximumCount - (hasTransparent ? 1 : 0)
        // With one visible color, opaque pixels share it with others.
        let opaque = visibleCount > 1 ? cells.filter(\.isOpaque) : []
        let others = visibleCount > 1 ? cells.filter { !$0.isOpaque } : cells
        let points = (opaque + others).map { cell in
            let sums = SIMD4(Float(cell.red), Float(cell.green), Float(cell.blue), Float(cell.alpha))
            return ColorBoxes.Point(color: sums / (255 * Float(cell.count)), weight: Float(cell.count))
        }
        var boxes = ColorBoxes(points, opaqueCount: opaque.count)
        while boxes.count < visibleCount, boxes.cut() { try ImageEncodingError.checkCancellation(format) }
        var palette = ExactPalette()
        for (colors, points) in boxes.groups {
            let isOpaque = points.lowerBound < opaque.count
            for mean in try boxes.refined(colors, points, for: format) {
                _ = palette.insert(Self.pixel(mean, isOpaque: isOpaque))
            }
        }
        if hasTransparent { _ = palette.insert(0) }
        return palette.colors
    }

    /// Returns the pixel of a mean color, whose samples are multiplied by alpha.
    private static func pixel(_ mean: SIMD4<Float>, isOpaque: Bool) -> UInt32 {
        let alpha = isOpaque ? 255 : max(1, mean.w)
        let samples = [mean.x, mean.y, mean.z].map { UInt32(min(255, max(0, ($0 * 255 / alpha).rounded()))) }
        let word = samples[0] | samples[1] << 8 | samples[2] << 16 | UInt32(min(255, alpha.rounded())) << 24
        return word.littleEndian
    }
}

/// Points in the space of colors, in boxes that are cut.
private struct ColorBoxes {
    /// The mean color of a cell, with alpha multiplied in, and the number of its pixels.
    struct Point {
        let color: SIMD4<Float>
        let weight: Float
    }

    /// The weighted sums of points.
    private struct Moments {
        var weight = 0.0
        var sum = SIMD4<Double>.zero
        var squares = SIMD4<Double>.zero

        mutating func add(_ point: Point) {
            let weight = Double(point.weight)
            let color = SIMD4<Double>(
                Double(point.color.x), Double(point.color.y), Double(point.color.z), Double(point.color.w))
            self.weight += weight
            sum += weight * color
            squares += weight * color * color
        }

        /// The squared distance of the mean from the origin, times the weight.
        var spread: Double { weight > 0 ? (sum * sum).sum() / weight : 0 }
        /// The squared error of the mean, for each axis.
        var errors: SIMD4<Double> { weight > 0 ? squares - sum * sum / weight : .zero }
    }

    private struct Box {
        let points: Range<Int>
        let moments: Moments
        /// The squared error, or 0 for a box that cannot be cut.
        var error: Double

        init(_ points: Range<Int>, _ moments: Moments) {
            (self.points, self.moments) = (points, moments)
            error = points.count > 1 ? max(0, moments.errors.sum()) : 0
        }

        var mean: SIMD4<Float> {
            let mean = moments.sum / moments.weight
            return SIMD4(Float(mean.x), Float(mean.y), Float(mean.z), Float(mean.w))
        }
    }

    private var points: [Point]
    private var boxes: [Box] = []
    private let opaqueCount: Int

    /// Creates one box for the first points, which are opaque, and one for the others.
    init(_ points: [Point], opaqueCount: Int) {
        (self.points, self.opaqueCount) = (points, opaqueCount)
        for range in [0..<opaqueCount, opaqueCount..<points.count] where !range.isEmpty {
            boxes.append(Box(range, moments(of: range)))
        }
    }

    var count: Int { boxes.count }

    /// The means of the boxes of opaque points and of those of other points, each with the range of its points.
    var groups: [(colors: [(mean: SIMD4<Float>, points: Range<Int>)], points: Range<Int>)] {
        [0..<opaqueCount, opaqueCount..<points.count].map { range in
            (boxes.filter { range.contains($0.points.lowerBound) }.map { ($0.mean, $0.points) }, range)
        }
    }

    private func moments(of range: Range<Int>) -> Moments { points[range].reduce(into: Moments()) { $0.add($1) } }

    /// Cuts the box with the largest error. Returns false if no box can be cut.
    mutating func cut() -> Bool {
        guard let widest = boxes.indices.max(by: { boxes[$0].error < boxes[$1].error }), boxes[widest].error > 0
        else { return false }
        let box = boxes[widest]
        let errors = box.moments.errors
        let axis = (0..<4).max { errors[$0] < errors[$1] } ?? 0
        points[box.points].sort { $0.color[axis] < $1.color[axis] }
        var low = Moments()
        var best: (low: Moments, end: Int, spread: Double) = (low, 0, -1)
        for index in box.points.dropLast() {
            low.add(points[index])
            var high = Moments()
            (high.weight, high.sum) = (box.moments.weight - low.weight, box.moments.sum - low.sum)
            let spread = low.spread + high.spread
            if spread > best.spread { best = (low, index + 1, spread) }
        }
        boxes[widest] = Box(box.points.lowerBound..<best.end, best.low)
        let rest = best.end..<box.points.upperBound
        boxes.append(Box(rest, moments(of: rest)))
        return true
    }

    /// Returns the colors after points have moved to the color nearest to them, for a few rounds.
    func refined(
        _ colors: [(mean: SIMD4<Float>, points: Range<Int>)], _ range: Range<Int>, for format: ImageFormat
    ) throws(ImageEncodingError) -> [SIMD4<Float>] {
        var means = colors.map(\.mean)
        guard means.count > 1 else { return means }
        var owners = [Int](repeating: 0, count: range.count)
        for (owner, color) in colors.enumerated() {
            for index in color.points { owners[index - range.lowerBound] = owner }
        }
        for _ in 0..<Self.roundCount {
            var nearest = NearestColors(means, areOpaque: range.lowerBound < opaqueCount)
            // A point this near to its color cannot be nearer to another one.
            let margins = means.indices.map { nearest.distance(toOthersThan: $0) / 4 }
            var sums = [SIMD4<Float>](repeating: .zero, count: means.count)
            var weights = [Float](repeating: 0, count: means.count)
            var hasMoved = false
            for (offset, point) in points[range].enumerated() {
                if offset % 4096 == 0 { try ImageEncodingError.checkCancellation(format) }
                var owner = owners[offset]
                let difference = point.color - means[owner]
                if (difference * difference).sum() > margins[owner] {
                    owner = nearest.index(of: point.color)
                    hasMoved = hasMoved || owner != owners[offset]
                    owners[offset] = owner
                }
                sums[owner] += point.weight * point.color
                weights[owner] += point.weight
            }
            guard hasMoved else { break }
            for index in means.indices where weights[index] > 0 { means[index] = sums[index] / weights[index] }
        }
        return means
    }

    private static let roundCount = 4
}

extension UInt32 {
    /// The pixel, whose alpha is in the high byte, with the other samples multiplied by it, rounded to nearest.
    var multipliedByAlpha: UInt32 {
        let alpha = self &>> 24
        guard alpha < 255 else { return self }
        var result = alpha &<< 24
        for shift: UInt32 in [0, 8, 16] {
            // Source: the division by 255 of J. Blinn, exact for products of two bytes.
            let product = (self &>> shift & 255) &* alpha &+ 128
            result |= ((product &+ (product &>> 8)) &>> 8) &<< shift
        }
        return result
    }
}
