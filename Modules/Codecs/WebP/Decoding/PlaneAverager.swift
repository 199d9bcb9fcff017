import AlcedoCore

/// The reduction of one plane of 8-bit samples. Every output sample is the mean of the area that it covers.
struct PlaneAverager {
    private let source: PixelSize
    private let height: Int
    private let columns: [AreaSpan]
    /// The shares of each output column's source samples, padded with zeros. Empty when a column has more than eight.
    private let shares: [(SIMD4<Float>, SIMD4<Float>)]
    /// The sums of source rows between the first and the last of an output row. At most ``maximumCountedRowCount`` rows
    /// are added, so that the sums fit in 16 bits.
    private var counts: [UInt16]
    private var sums: [Float]
    /// The most recent output row.
    private(set) var row: [Float]

    private static let maximumCountedRowCount = 257

    /// Creates an averager. Both sizes must be positive.
    init(from source: PixelSize, to size: PixelSize) {
        self.source = source
        height = size.height
        columns = (0..<size.width).map { AreaSpan($0, of: size.width, over: source.width) }
        counts = Array(repeating: 0, count: source.width)
        shares = columns.allSatisfy { $0.count <= SIMD8<Float>.scalarCount } ? columns.map(Self.shares) : []
        // Eight extra sums, so that eight values can be read starting at the first sample of every column.
        sums = Array(repeating: 0, count: source.width + SIMD8<Float>.scalarCount)
        row = Array(repeating: 0, count: size.width)
    }

    /// Returns the source rows that contribute to an output row.
    func rows(of y: Int) -> AreaSpan { AreaSpan(y, of: height, over: source.height) }

    /// Computes an output row of the plane that begins at `plane`. The rows of the plane must not be padded.
    mutating func make(_ y: Int, of plane: UnsafePointer<UInt8>) {
        let span = rows(of: y)
        let width = source.width
        let first = plane + span.first * width
        guard span.count > 1 else {
            sums.withUnsafeMutableBufferPointer { sums in
                for x in 0..<width { sums[x] = span.firstShare * Float(first[x]) }
            }
            return averageColumns()
        }
        let last = plane + (span.end - 1) * width
        let inner = span.first + 1..<span.end - 1
        count(plane, inner.prefix(Self.maximumCountedRowCount))
        counts.withUnsafeBufferPointer { counts in
            sums.withUnsafeMutableBufferPointer { sums in
                for x in 0..<width {
                    sums[x] =
                        span.firstShare * Float(first[x]) + span.lastShare * Float(last[x])
                        + span.innerShare * Float(counts[x])
                }
            }
        }
        addFurther(plane, inner.dropFirst(Self.maximumCountedRowCount), share: span.innerShare)
        averageColumns()
    }

    /// Adds further inner rows to ``sums``, with separate ``counts`` that fit in 16 bits.
    private mutating func addFurther(_ plane: UnsafePointer<UInt8>, _ rows: Range<Int>, share: Float) {
        var left = rows
        while !left.isEmpty {
            count(plane, left.prefix(Self.maximumCountedRowCount))
            left = left.dropFirst(Self.maximumCountedRowCount)
            counts.withUnsafeBufferPointer { counts in
                sums.withUnsafeMutableBufferPointer { sums in
                    for x in 0..<counts.count { sums[x] += share * Float(counts[x]) }
                }
            }
        }
    }

    /// Writes the sums of at most ``maximumCountedRowCount`` rows to ``counts``. Up to four rows are added at a time,
    /// which needs fewer passes over the sums.
    private mutating func count(_ plane: UnsafePointer<UInt8>, _ rows: Range<Int>) {
        let width = source.width
        counts.withUnsafeMutableBufferPointer { counts in
            for x in 0..<width { counts[x] = 0 }
            var left = rows
            while let first = left.first {
                let (a, b, c, d) = (
                    plane + first * width, plane + (first + 1) * width, plane + (first + 2) * width,
                    plane + (first + 3) * width
                )
                switch left.count {
                case 1: for x in 0..<width { counts[x] &+= UInt16(a[x]) }
                case 2: for x in 0..<width { counts[x] &+= UInt16(a[x]) &+ UInt16(b[x]) }
                case 3: for x in 0..<width { counts[x] &+= UInt16(a[x]) &+ UInt16(b[x]) &+ UInt16(c[x]) }
                default:
                    for x in 0..<width {
                        counts[x] &+= UInt16(a[x]) &+ UInt16(b[x]) &+ (UInt16(c[x]) &+ UInt16(d[x]))
                    }
                }
                left = left.dropFirst(4)
            }
        }
    }

    private static func shares(_ span: AreaSpan) -> (SIMD4<Float>, SIMD4<Float>) {
        var shares = SIMD8<Float>()
        for index in 0..<span.count { shares[index] = span.innerShare }
        shares[span.count - 1] = span.lastShare
        shares[0] = span.firstShare
        return (shares.lowHalf, shares.highHalf)
    }

    private mutating func averageColumns() {
        guard !shares.isEmpty else { return averageWideColumns() }
        sums.withUnsafeBytes { sums in
            columns.withUnsafeBufferPointer { columns in
                shares.withUnsafeBufferPointer { shares in
                    row.withUnsafeMutableBufferPointer { row in
                        for x in 0..<row.count {
                            let (low, high) = shares[x]
                            let offset = 4 &* columns[x].first
                            let four =
                                sums.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self) * low
                                + sums.loadUnaligned(fromByteOffset: offset &+ 16, as: SIMD4<Float>.self) * high
                            row[x] = (four.x + four.z) + (four.y + four.w)
                        }
                    }
                }
            }
        }
    }

    private mutating func averageWideColumns() {
        sums.withUnsafeBufferPointer { sums in
            columns.withUnsafeBufferPointer { columns in
                row.withUnsafeMutableBufferPointer { row in
                    for x in 0..<columns.count {
                        let span = columns[x]
                        let last = span.first &+ span.count &- 1
                        var inner: Float = 0
                        var index = span.first &+ 1
                        while index < last {
                            inner += sums[index]
                            index &+= 1
                        }
                        row[x] =
                            span.firstShare * sums[span.first] + span.innerShare * inner + span.lastShare * sums[last]
                    }
                }
            }
        }
    }
}

/// The source pixels along one axis that an output pixel covers, and the share of each.
struct AreaSpan {
    let first: Int
    /// The number of source pixels, at least one.
    let count: Int
    let firstShare: Float
    /// The share of every pixel between the first and the last.
    let innerShare: Float
    /// The share of the last pixel, or zero when there is only one pixel.
    let lastShare: Float

    var end: Int { first + count }

    /// Creates the span of the output pixel `index` along an axis of `length` output pixels and `source` source pixels.
    /// Both lengths must be positive, their product must not overflow, and `index` must be in `0..<length`.
    init(_ index: Int, of length: Int, over source: Int) {
        // Positions are in units such that an output pixel is `source` units long and a source pixel is `length` units
        // long.
        let (low, high) = (index * source, (index + 1) * source)
        let last = (high - 1) / length
        first = low / length
        count = last - first + 1
        firstShare = Float(min(high, (first + 1) * length) - low) / Float(source)
        innerShare = Float(length) / Float(source)
        lastShare = count > 1 ? Float(high - last * length) / Float(source) : 0
    }
}
