import AlcedoCore

/// An upright image of at most 100 × 100 pixels, averaged down from a larger image.
struct ReducedImage {
    static let maximumSide = 100

    let size: PixelSize
    /// The pixels in rows: red, green, blue and straight alpha, from 0 to 1.
    let pixels: [SIMD4<Double>]

    /// Averages an image down, with color weighted by alpha. The pixels of a smaller image stay unchanged.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` with the code `outOfMemory`.
    init(_ image: DecodedImage) throws(ImageDecodingError) {
        let limit = PixelSize(width: Self.maximumSide, height: Self.maximumSide)
        let averages = Self.averages(of: image, size: image.size.scaled(to: limit, mode: .fit))
        guard let averages else { throw ImageDecodingError.noMemory(for: image.size) }
        let upright = try averages.upright(from: image.orientation)
        size = upright.size
        var pixels: [SIMD4<Double>] = []
        pixels.reserveCapacity(upright.size.pixelCount)
        for y in 0..<upright.height {
            let row = upright.row(y)
            for x in 0..<upright.width {
                pixels.append(SIMD4<Double>(row.unsafeLoad(fromByteOffset: 4 * x, as: SIMD4<UInt8>.self)) / 255)
            }
        }
        self.pixels = pixels
    }

    /// Returns the averages of cells of nearly equal size.
    private static func averages(of image: DecodedImage, size: PixelSize) -> PixelBuffer? {
        var converter = StraightRowConverter(image.rowHeader)
        let source = image.pixels
        return PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, stride in
            var sums = [SIMD4<UInt64>](repeating: .zero, count: size.width)
            for y in 0..<size.height {
                let rows = y * source.height / size.height..<(y + 1) * source.height / size.height
                for row in rows { add(converter.convert(source.row(row)), to: &sums, source.width) }
                for x in 0..<size.width {
                    let columns = (x + 1) * source.width / size.width - x * source.width / size.width
                    memory.storeBytes(
                        of: average(sums[x], count: UInt64(columns * rows.count)), toByteOffset: y * stride + 4 * x,
                        as: SIMD4<UInt8>.self)
                    sums[x] = .zero
                }
            }
        }
    }

    /// Adds the pixels of a row to the sums of its cells: color times alpha, and alpha.
    private static func add(_ row: [UInt8], to sums: inout [SIMD4<UInt64>], _ width: Int) {
        row.withUnsafeBytes { row in
            for cell in sums.indices {
                var sum = SIMD4<UInt64>.zero
                for x in cell * width / sums.count..<(cell + 1) * width / sums.count {
                    let pixel = SIMD4<UInt32>(
                        truncatingIfNeeded: row.loadUnaligned(fromByteOffset: 4 &* x, as: SIMD4<UInt8>.self))
                    sum &+= SIMD4<UInt64>(truncatingIfNeeded: pixel &* SIMD4(pixel.w, pixel.w, pixel.w, 1))
                }
                sums[cell] &+= sum
            }
        }
    }

    private static func average(_ sum: SIMD4<UInt64>, count: UInt64) -> SIMD4<UInt8> {
        guard sum.w > 0, count > 0 else { return .zero }
        let color = (sum &+ SIMD4(repeating: sum.w / 2)) / SIMD4(repeating: sum.w)
        return SIMD4<UInt8>(
            truncatingIfNeeded: SIMD4(color.x, color.y, color.z, (sum.w + count / 2) / count))
    }
}
