public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Replaces every sample by the median of its square neighborhood, which removes specks and keeps edges.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.median(size: 3)])
    /// ```
    ///
    /// The median of each channel is determined separately. The same as `median` in sharp and libvips, except for
    /// images with alpha: here, color is multiplied by alpha, so that transparent pixels contribute no color. Works on
    /// every pixel format, and keeps it. Beyond the edges, the outermost pixels are repeated. Every frame of an
    /// animation is processed when it is requested. Processing throws `invalidParameter` for an invalid size, and
    /// `tooLarge` when the rows in flight need more than 1 GiB or there is no memory for the result.
    ///
    /// Source: Huang, Yang, Tang, "A Fast Two-Dimensional Median Filtering Algorithm", IEEE TASSP 27 (1979).
    ///
    /// - Parameter size: The width and height of the neighborhood in pixels, an odd number from 1 to 99. A size of 1
    ///   changes nothing. Default: 3.
    /// - Complexity: O(*w* × *h* × size). Whole images and rows both need memory for `size` rows in 16 bits, in
    ///   addition to the result.
    public static func median(size: Int = 3) -> Self { Self(ImageProcessors.Median(size: size)) }
}

extension ImageProcessors {
    /// The processor of `.median(size:)`.
    package struct Median: NeighborhoodProcessing {
        package static let maximumSize = 99

        private let size: Int

        package init(size: Int = 3) { self.size = size }

        package var identifier: String { "median:\(size)" }

        func makeFilter(for header: PixelRowHeader) throws(ImageProcessingError) -> (any RowFilter)? {
            guard isValid else {
                throw ImageProcessingError(
                    .invalidParameter,
                    "invalid median size: \(size) pixels; use an odd number from 1 to \(Self.maximumSize)")
            }
            return size == 1 ? nil : MedianRows(header, size: size)
        }

        private var isValid: Bool { (1...Self.maximumSize).contains(size) && !size.isMultiple(of: 2) }

        func filterByteCount(for header: PixelRowHeader) -> Int {
            isValid && size > 1 ? MedianRows.byteCount(for: header, size: size) : 0
        }
    }
}

/// Medians of rows of samples, in planes of 16 bits with color multiplied by alpha. The products of straight 8-bit
/// color and alpha are exact.
private final class MedianRows: RowFilter {
    private let size: PixelSize
    /// The width and height of a neighborhood.
    private let side: Int
    private let layout: SampleLayout
    private let planeCount: Int
    /// The number of samples in a row of a plane, with the repeated pixels on the left and right.
    private let plane: Int
    private let rows: Scratch<UInt16>
    private let lines: Scratch<UnsafePointer<UInt16>>
    private let result: Scratch<UInt16>
    private var counts: SampleCounts
    private var taken = 0
    private var given = 0

    private var radius: Int { side / 2 }

    init(_ header: PixelRowHeader, size side: Int) {
        size = header.size
        self.side = side
        layout = SampleLayout(header.format, header.alphaMode)
        planeCount = Self.planeCount(of: header)
        plane = size.width + side - 1
        rows = Scratch(count: side * planeCount * plane)
        lines = Scratch(count: side)
        result = Scratch(count: planeCount * size.width)
        counts = SampleCounts(bits: layout == .gray8 || layout == .color8 ? 8 : 16)
    }

    /// Returns the number of bytes of the rows, or `Int.max` when the number overflows.
    static func byteCount(for header: PixelRowHeader, size side: Int) -> Int {
        let row = planeCount(of: header) * (header.size.width + side) * MemoryLayout<UInt16>.stride
        let rows = row.multipliedReportingOverflow(by: side + 1)
        return (rows.overflow ? .max : rows.partialValue).addingClamped(SampleCounts.maximumByteCount)
    }

    /// Returns the number of channels, without the alpha of opaque images.
    private static func planeCount(of header: PixelRowHeader) -> Int {
        header.format.isGray ? 1 : header.alphaMode == .opaque ? 3 : 4
    }

    func push(_ row: UnsafeRawPointer) {
        guard taken < size.height else { return }
        let planes = planes(of: taken)
        taken += 1
        switch layout {
        case .gray8, .color8: split(row, UInt8.self, into: planes)
        case .gray16, .color16: split(row, UInt16.self, into: planes)
        case .straight8:
            split(row, UInt8.self, into: planes)
            changeColor(planes, plane, alpha: planes + 3 * plane) { $0 * $1 }
            // Alpha in the scale of the products.
            for x in 0..<plane { planes[3 * plane + x] *= 255 }
        case .straight16:
            split(row, UInt16.self, into: planes)
            changeColor(planes, plane, alpha: planes + 3 * plane) { ($0 * $1 + 32_767) / 65_535 }
        }
    }

    func pull(into out: UnsafeMutableRawPointer) -> Bool {
        guard given < size.height, taken > min(given + radius, size.height - 1) else { return false }
        for channel in 0..<planeCount {
            for line in 0..<side {
                // Beyond the edges, the outermost rows are repeated.
                let y = max(0, min(size.height - 1, given + line - radius))
                lines.base[line] = UnsafePointer(planes(of: y) + channel * plane)
            }
            Self.filter(lines.base, side, size.width, &counts, into: result.base + channel * size.width)
        }
        given += 1
        let alpha = result.base + 3 * size.width
        switch layout {
        case .gray8, .color8: join(UInt8.self, into: out)
        case .gray16, .color16: join(UInt16.self, into: out)
        case .straight8:
            for x in 0..<size.width { alpha[x] /= 255 }
            changeColor(result.base, size.width, alpha: alpha) { $1 > 0 ? ($0 + $1 / 2) / $1 : 0 }
            join(UInt8.self, into: out)
        case .straight16:
            changeColor(result.base, size.width, alpha: alpha) { $1 > 0 ? ($0 * 65_535 + $1 / 2) / $1 : 0 }
            join(UInt16.self, into: out)
        }
        return true
    }

    /// Returns the memory of row `y`.
    private func planes(of y: Int) -> UnsafeMutablePointer<UInt16> { rows.base + y % side * planeCount * plane }

    /// Writes the medians of a plane. `lines` are the `side` rows of the neighborhoods.
    private static func filter(
        _ lines: UnsafePointer<UnsafePointer<UInt16>>, _ side: Int, _ width: Int, _ counts: inout SampleCounts,
        into out: UnsafeMutablePointer<UInt16>
    ) {
        for x in 0..<width + side - 1 {
            for line in 0..<side { counts.add(lines[line][x]) }
            let first = x &- side &+ 1
            guard first >= 0 else { continue }
            out[first] = counts.sample(rank: side * side / 2)
            for line in 0..<side { counts.remove(lines[line][first]) }
        }
        // The last neighborhood without its first column, so that the counts are zero for the next plane.
        for x in width..<width + side - 1 {
            for line in 0..<side { counts.remove(lines[line][x]) }
        }
    }

    /// Copies the samples of a row to planes and repeats the outermost ones.
    private func split<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ row: UnsafeRawPointer, _ type: Sample.Type, into planes: UnsafeMutablePointer<UInt16>
    ) {
        for channel in 0..<planeCount {
            let samples = planes + channel * plane + radius
            for x in 0..<size.width {
                let offset = (x &* layout.channels &+ channel) &* MemoryLayout<Sample>.size
                samples[x] = UInt16(truncatingIfNeeded: row.loadUnaligned(fromByteOffset: offset, as: Sample.self))
            }
            for offset in 1...radius {
                samples[-offset] = samples[0]
                samples[size.width - 1 + offset] = samples[size.width - 1]
            }
        }
    }

    /// Copies the medians to a row.
    private func join<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ type: Sample.Type, into out: UnsafeMutableRawPointer
    ) {
        for x in 0..<size.width {
            for channel in 0..<layout.channels {
                let sample =
                    channel < planeCount
                    ? Sample(truncatingIfNeeded: result.base[channel * size.width + x]) : Sample.max
                let offset = (x &* layout.channels &+ channel) &* MemoryLayout<Sample>.size
                out.storeBytes(of: sample, toByteOffset: offset, as: Sample.self)
            }
        }
    }

    /// Changes the samples of three planes, each with `count` samples, by their alpha.
    @inline(__always)
    private func changeColor(
        _ planes: UnsafeMutablePointer<UInt16>, _ count: Int, alpha: UnsafePointer<UInt16>,
        _ body: (_ color: UInt32, _ alpha: UInt32) -> UInt32
    ) {
        for channel in 0..<3 {
            for x in 0..<count {
                let color = planes + channel * count + x
                color.pointee = UInt16(truncatingIfNeeded: body(UInt32(color.pointee), UInt32(alpha[x])))
            }
        }
    }
}

/// The numbers of samples of each value in a neighborhood, also added up in bins, so that a rank is found in few steps.
private struct SampleCounts: ~Copyable {
    /// The bytes of the counts of 16-bit samples.
    static let maximumByteCount = ((1 << 16) + (1 << 8)) * MemoryLayout<UInt16>.stride

    private let binBits: Int
    private let samples: Scratch<UInt16>
    private let bins: Scratch<UInt16>
    /// The bin of the last rank. Most neighborhoods differ little from the one before.
    private var bin = 0
    /// The number of samples in lower bins.
    private var below = 0

    /// Creates counts of zero for samples of 8 or 16 bits.
    init(bits: Int) {
        binBits = bits / 2
        samples = Scratch(count: 1 << bits)
        bins = Scratch(count: 1 << binBits)
    }

    mutating func add(_ sample: UInt16) {
        samples.base[Int(sample)] &+= 1
        bins.base[Int(sample) &>> binBits] &+= 1
        if Int(sample) &>> binBits < bin { below &+= 1 }
    }

    mutating func remove(_ sample: UInt16) {
        samples.base[Int(sample)] &-= 1
        bins.base[Int(sample) &>> binBits] &-= 1
        if Int(sample) &>> binBits < bin { below &-= 1 }
    }

    /// Returns the sample at a position in ascending order. `rank` is below the number of samples.
    mutating func sample(rank: Int) -> UInt16 {
        while below > rank {
            bin &-= 1
            below &-= Int(bins.base[bin])
        }
        while below &+ Int(bins.base[bin]) <= rank {
            below &+= Int(bins.base[bin])
            bin &+= 1
        }
        var (sample, count) = (bin &<< binBits, below &+ Int(samples.base[bin &<< binBits]))
        while count <= rank {
            sample &+= 1
            count &+= Int(samples.base[sample])
        }
        return UInt16(truncatingIfNeeded: sample)
    }
}
