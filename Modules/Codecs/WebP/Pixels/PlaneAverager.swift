import AlcedoCore

/// Changes the size of one plane of 8-bit samples: every output sample is the mean of the area that it covers.
struct PlaneAverager {
    private let source: PixelSize
    private let height: Int
    private let columns: [AreaSpan]
    /// Of the rows wholly covered: a few at a time, as many as fit.
    private var counts: [UInt16]
    private var sums: [Float]
    /// The last row that was made.
    private(set) var row: [Float]

    private static let mostCountedRows = 257

    /// - Parameters: Both sizes are positive.
    init(from source: PixelSize, to size: PixelSize) {
        self.source = source
        height = size.height
        columns = (0..<size.width).map { AreaSpan($0, of: size.width, over: source.width) }
        counts = Array(repeating: 0, count: source.width)
        sums = Array(repeating: 0, count: source.width)
        row = Array(repeating: 0, count: size.width)
    }

    /// The source rows that an output row is made of.
    func rows(of y: Int) -> AreaSpan { AreaSpan(y, of: height, over: source.height) }

    /// Makes an output row of the plane that begins at `plane`, whose rows follow one another without padding.
    mutating func make(_ y: Int, of plane: UnsafePointer<UInt8>) {
        let span = rows(of: y)
        let width = source.width
        let first = plane + span.first * width
        sums.withUnsafeMutableBufferPointer { sums in
            for x in 0..<width { sums[x] = span.firstShare * Float(first[x]) }
            guard span.count > 1 else { return }
            let last = plane + (span.end - 1) * width
            for x in 0..<width { sums[x] += span.lastShare * Float(last[x]) }
        }
        var inner = span.first + 1
        while inner < span.end - 1 {
            let next = min(inner + Self.mostCountedRows, span.end - 1)
            addInner(plane + inner * width, count: next - inner, share: span.innerShare)
            inner = next
        }
        averageColumns()
    }

    private mutating func addInner(_ first: UnsafePointer<UInt8>, count: Int, share: Float) {
        let width = source.width
        counts.withUnsafeMutableBufferPointer { counts in
            for x in 0..<width { counts[x] = UInt16(first[x]) }
            for index in 1..<max(1, count) {
                let row = first + index * width
                for x in 0..<width { counts[x] &+= UInt16(row[x]) }
            }
            sums.withUnsafeMutableBufferPointer { sums in
                for x in 0..<width { sums[x] += share * Float(counts[x]) }
            }
        }
    }

    private mutating func averageColumns() {
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
