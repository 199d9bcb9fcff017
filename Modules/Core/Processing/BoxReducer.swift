/// A consumer that averages square cells of pixels as rows arrive, and passes on the smaller rows. Memory: a row of
/// sums, a row of column sums and a row of output.
///
/// Color is weighted by alpha when alpha is straight. Averages are rounded to nearest.
package final class BoxReducer: PixelRowConsumer {
    private let reduction: BoxReduction
    private let next: any PixelRowConsumer
    private var header: PixelRowHeader?
    private var sums: [SIMD4<UInt64>] = []
    /// The sum of each sample column over several rows, for 8-bit samples that need no weights. After these rows, each
    /// column sum is added once to the sum of its cell. Empty for other samples.
    private var columns: [UInt16] = []
    private var columnRows = 0
    private var output: [UInt8] = []
    private var pendingRows = 0
    private var rowsLeft = 0

    /// Creates a reducer.
    ///
    /// - Parameters:
    ///   - reduction: The reduction. With a factor of 1, rows are passed on unchanged.
    ///   - next: The consumer of the smaller rows.
    package init(_ reduction: BoxReduction, next: any PixelRowConsumer) {
        self.reduction = reduction
        self.next = next
    }

    package func begin(_ header: PixelRowHeader) throws {
        var reduced = header
        reduced.size = reduction.size(of: header.size)
        if reduction.factor > 1 { reduced.reduction = reduction.position(in: header.size) }
        if reduction.factor > 1 {
            sums = Array(repeating: SIMD4(repeating: 0), count: reduced.size.width)
            output = Array(repeating: 0, count: reduced.bytesPerRow)
            let isWeighted = header.format.hasAlpha && header.alphaMode == .straight
            let addsColumns = !header.format.isDeep && !isWeighted
            columns = Array(repeating: 0, count: addsColumns ? header.bytesPerRow : 0)
        }
        self.header = header
        rowsLeft = header.size.height
        try next.begin(reduced)
    }

    package func consume(_ row: RawSpan) throws {
        guard let header, reduction.factor > 1 else { return try next.consume(row) }
        row.withUnsafeBytes { columns.isEmpty ? add($0, header) : addColumns($0) }
        pendingRows += 1
        rowsLeft -= 1
        let isCellComplete = pendingRows == reduction.factor || rowsLeft == 0
        if isCellComplete || columnRows == Self.maximumColumnRowCount { addCells(ofColumns: header) }
        guard isCellComplete else { return }
        writeAverages(header)
        pendingRows = 0
        for cell in sums.indices { sums[cell] = SIMD4(repeating: 0) }
        try output.withUnsafeBytes { try next.consume(RawSpan(_unsafeBytes: $0)) }
    }

    package func finish() throws { try next.finish() }

    /// The maximum number of 8-bit samples whose sum fits into a column sum.
    private static let maximumColumnRowCount = 257

    private func addColumns(_ row: UnsafeRawBufferPointer) {
        columns.withUnsafeMutableBufferPointer { columns in
            for index in columns.indices { columns[index] &+= UInt16(row[index]) }
        }
        columnRows += 1
    }

    /// Adds the column sums to the sums of their cells and resets the column sums.
    private func addCells(ofColumns header: PixelRowHeader) {
        guard columnRows > 0 else { return }
        columns.withUnsafeMutableBytes { columns in
            guard let base = columns.baseAddress else { return }
            if header.format == .gray8 {
                addCells(header.size.width) {
                    SIMD4<UInt32>(UInt32(base.load(fromByteOffset: $0 &* 2, as: UInt16.self)), 0, 0, 0)
                }
            } else {
                addCells(header.size.width) {
                    SIMD4<UInt32>(
                        truncatingIfNeeded: base.loadUnaligned(fromByteOffset: $0 &* 8, as: SIMD4<UInt16>.self))
                }
            }
            columns.initializeMemory(as: UInt16.self, repeating: 0)
        }
        columnRows = 0
    }

    private func add(_ row: UnsafeRawBufferPointer, _ header: PixelRowHeader) {
        guard let base = row.baseAddress else { return }
        let width = header.size.width
        switch header.format {
        case .gray16:
            addCells(width) {
                SIMD4<UInt64>(UInt64(base.loadUnaligned(fromByteOffset: $0 &* 2, as: UInt16.self)), 0, 0, 0)
            }
        case .rgba16:
            addCells(width) {
                let pixel = SIMD4<UInt64>(
                    truncatingIfNeeded: base.loadUnaligned(fromByteOffset: $0 &* 8, as: SIMD4<UInt16>.self))
                return header.alphaMode == .straight ? pixel &* SIMD4(pixel.w, pixel.w, pixel.w, 1) : pixel
            }
        case .rgba8, .rgbx8, .gray8:
            addCells(width) {
                let pixel = SIMD4<UInt32>(
                    truncatingIfNeeded: base.loadUnaligned(fromByteOffset: $0 &* 4, as: SIMD4<UInt8>.self))
                return pixel &* SIMD4(pixel.w, pixel.w, pixel.w, 1)
            }
        }
    }

    /// Adds one row of pixels or of column sums to the sums of their cells. For 8-bit samples, the sum of one cell's
    /// row fits into 32 bits: 4096 × 255² (weighted pixels) and 4096 × 257 × 255 (column sums) are below 2³².
    @inline(__always)
    private func addCells<Sum: FixedWidthInteger & UnsignedInteger & SIMDScalar>(
        _ width: Int, _ pixel: (_ x: Int) -> SIMD4<Sum>
    ) {
        let factor = reduction.factor
        sums.withUnsafeMutableBufferPointer { sums in
            var x = 0
            for cell in sums.indices {
                let end = min(width, x &+ factor)
                var sum = SIMD4<Sum>(repeating: 0)
                while x < end {
                    sum &+= pixel(x)
                    x &+= 1
                }
                sums[cell] &+= SIMD4<UInt64>(truncatingIfNeeded: sum)
            }
        }
    }

    private func writeAverages(_ header: PixelRowHeader) {
        let isStraight = header.alphaMode == .straight && !header.format.isGray
        let pixelBytes = header.format.bytesPerPixel
        output.withUnsafeMutableBytes { output in
            for cell in sums.indices {
                let columns = min(reduction.factor, header.size.width - cell * reduction.factor)
                let sum = sums[cell]
                let average = Self.rounded(sum, over: UInt64(columns * pendingRows))
                var pixel = isStraight ? Self.rounded(sum, over: sum.w) : average
                pixel.w = average.w
                switch header.format {
                case .gray8:
                    output.storeBytes(of: UInt8(truncatingIfNeeded: pixel.x), toByteOffset: cell, as: UInt8.self)
                case .rgba8, .rgbx8:
                    output.storeBytes(
                        of: SIMD4<UInt8>(truncatingIfNeeded: pixel), toByteOffset: cell * pixelBytes,
                        as: SIMD4<UInt8>.self)
                case .gray16:
                    output.storeBytes(of: UInt16(truncatingIfNeeded: pixel.x), toByteOffset: 2 * cell, as: UInt16.self)
                case .rgba16:
                    output.storeBytes(
                        of: SIMD4<UInt16>(truncatingIfNeeded: pixel), toByteOffset: cell * pixelBytes,
                        as: SIMD4<UInt16>.self)
                }
            }
        }
    }

    /// Returns the quotient of each lane, rounded to nearest. Division by zero returns zero.
    private static func rounded(_ sum: SIMD4<UInt64>, over count: UInt64) -> SIMD4<UInt64> {
        guard count > 0 else { return SIMD4(repeating: 0) }
        let half = count / 2
        return SIMD4((sum.x + half) / count, (sum.y + half) / count, (sum.z + half) / count, (sum.w + half) / count)
    }
}

/// The whole-number factor by which an image can be averaged down for a target size.
package struct BoxReduction: Sendable, Hashable {
    /// The number of source pixels, in each direction, that become one pixel.
    package let factor: Int

    /// Creates a reduction by a factor. Factors below 1 count as 1, and those above ``maximumFactor`` as the maximum.
    package init(factor: Int) { self.factor = min(max(1, factor), Self.maximumFactor) }

    /// Creates a reduction for a target size.
    ///
    /// For each side, the stored length is divided by the length that `target` requires. The factor is the smaller
    /// quotient, rounded down. It is at most ``maximumFactor``, and 1 when a size is not positive.
    ///
    /// - Parameters:
    ///   - stored: The size of the rows that are averaged.
    ///   - orientation: The orientation of these rows. `target` applies to the upright image.
    ///   - target: The requested size; nil for no reduction.
    package init(from stored: PixelSize, orientation: ImageOrientation = .up, towards target: TargetSize?) {
        guard let target, stored.isPositive, target.size.isPositive else {
            factor = 1
            return
        }
        let box = orientation.swapsSides ? target.size.transposed : target.size
        let needed = stored.scaled(to: box, mode: target.mode)
        factor = max(1, min(stored.width / needed.width, stored.height / needed.height, Self.maximumFactor))
    }

    /// The maximum factor. The sum of 4096² samples of 16 bits, multiplied by alpha, fits into the 64-bit sums of
    /// ``BoxReducer``.
    package static let maximumFactor = 4096

    /// Returns the size of the reduced image. When the factor does not divide a side of `size`, the last column or row
    /// consists of averages of the remaining pixels.
    package func size(of size: PixelSize) -> PixelSize {
        PixelSize(width: (size.width - 1) / factor + 1, height: (size.height - 1) / factor + 1)
    }

    /// Returns the position of the averages in an image of size `size`.
    package func position(in size: PixelSize) -> ImageReduction {
        ImageReduction(
            of: size, width: Double(size.width) / Double(factor), height: Double(size.height) / Double(factor))
    }
}

extension PixelBuffer {
    /// Returns the image averaged down, or the unchanged image when the factor is 1. O(*w* × *h*). Throws `outOfMemory`
    /// when there is no memory for the result.
    package func reduced(by reduction: BoxReduction) throws(ImageDecodingError) -> PixelBuffer {
        guard reduction.factor > 1 else { return self }
        let image = try PixelRowCollector.image { collector in
            try DecodedImage(pixels: self).sendRows(to: BoxReducer(reduction, next: collector))
        }
        guard let image else {
            throw ImageDecodingError(
                .corrupt, "the reduction of \(size) pixels by a factor of \(reduction.factor) produced no image")
        }
        return image.pixels
    }
}
