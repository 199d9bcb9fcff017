import AlcedoCore

extension PixelBuffer {
    /// Returns the image reduced to `target` pixels, each the mean of the source pixels that it covers, over
    /// `background`.
    ///
    /// The mean is calculated from the encoded samples, not from linear light. This is fast, and accurate enough for
    /// the cells of a terminal. O(*w* × *h*).
    ///
    /// - Parameters:
    ///   - target: The size of the result. Each side is clamped to the range from one pixel to the source's side.
    ///   - background: The color behind transparent pixels.
    /// - Returns: An `rgbx8` buffer; nil if there is no memory for it.
    func reduced(to target: PixelSize, over background: PixelColor) -> PixelBuffer? {
        let target = PixelSize(
            width: min(max(1, target.width), width), height: min(max(1, target.height), height))
        let columns = Self.boundaries(of: width, parts: target.width)
        let rows = Self.boundaries(of: height, parts: target.height)
        return PixelBuffer(size: target, format: .rgbx8, alphaMode: .opaque) { memory, bytesPerRow in
            var sums = [PixelSum](repeating: PixelSum(), count: target.width)
            for y in 0..<target.height {
                for x in sums.indices { sums[x] = PixelSum() }
                for sourceY in rows[y]..<rows[y + 1] { add(row(sourceY), columns: columns, to: &sums) }
                for x in sums.indices {
                    let color = sums[x].average(over: background)
                    let offset = y * bytesPerRow + x * 4
                    memory[offset] = color.red
                    memory[offset + 1] = color.green
                    memory[offset + 2] = color.blue
                    memory[offset + 3] = 255
                }
            }
        }
    }

    /// Returns the start of each of `parts` nearly equal parts of `length`, followed by the end of the last part.
    private static func boundaries(of length: Int, parts: Int) -> [Int] {
        // The quotient and the remainder are multiplied separately, so that the products do not overflow for any
        // length.
        let (quotient, remainder) = length.quotientAndRemainder(dividingBy: parts)
        return (0...parts).map { $0 * quotient + $0 * remainder / parts }
    }

    private func add(_ row: RawSpan, columns: [Int], to sums: inout [PixelSum]) {
        for x in sums.indices {
            for sourceX in columns[x]..<columns[x + 1] {
                switch format {
                case .gray8:
                    let gray = UInt64(row.unsafeLoad(fromByteOffset: sourceX, as: UInt8.self))
                    sums[x].add(SIMD4(gray, gray, gray, 255), .opaque)
                case .gray16:
                    let gray = UInt64(row.unsafeLoad(fromByteOffset: 2 * sourceX, as: UInt16.self)) / 257
                    sums[x].add(SIMD4(gray, gray, gray, 255), .opaque)
                case .rgbx8: sums[x].add(Self.load(row, sourceX, as: SIMD4<UInt8>.self), .opaque)
                case .rgba8: sums[x].add(Self.load(row, sourceX, as: SIMD4<UInt8>.self), alphaMode)
                // 65,535 is 257 × 255.
                case .rgba16: sums[x].add(Self.load(row, sourceX, as: SIMD4<UInt16>.self) / 257, alphaMode)
                }
            }
        }
    }

    private static func load<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ row: RawSpan, _ index: Int, as type: SIMD4<Sample>.Type
    ) -> SIMD4<UInt64> where SIMD4<Sample>: BitwiseCopyable {
        let offset = index * MemoryLayout<SIMD4<Sample>>.size
        return SIMD4(truncatingIfNeeded: row.unsafeLoad(fromByteOffset: offset, as: type))
    }
}

/// A sum of 8-bit pixels, weighted by their alpha. 64 bits hold the sum of 2⁴⁸ pixels.
private struct PixelSum: Sendable {
    /// The sums of red, green and blue times alpha, and of alpha times 255, so that all four have the same scale.
    private var sum = SIMD4<UInt64>()
    private var count: UInt64 = 0

    /// Adds a pixel.
    ///
    /// - Parameters:
    ///   - pixel: Red, green, blue and alpha, each at most 255.
    ///   - mode: The alpha mode of the pixel.
    mutating func add(_ pixel: SIMD4<UInt64>, _ mode: AlphaMode) {
        count += 1
        switch mode {
        case .opaque:
            sum &+= SIMD4(pixel.x, pixel.y, pixel.z, 255) &* 255
        case .straight:
            let alpha = pixel.w
            sum &+= SIMD4(pixel.x, pixel.y, pixel.z, 255) &* alpha
        case .premultiplied:
            // A sample above alpha is invalid in premultiplied pixels, and is treated as alpha.
            sum &+= pointwiseMin(pixel, SIMD4(repeating: pixel.w)) &* 255
        }
    }

    /// Returns the mean of the pixels over `background`; the background itself if no pixels were added.
    func average(over background: PixelColor) -> PixelColor {
        let total = count * 255
        guard total > 0 else { return background }
        let transparent = total - sum.w / 255
        let mix = { (sum: UInt64, behind: UInt8) in
            UInt8(truncatingIfNeeded: (sum + UInt64(behind) * transparent + total / 2) / total)
        }
        return PixelColor(
            red: mix(sum.x, background.red), green: mix(sum.y, background.green), blue: mix(sum.z, background.blue))
    }
}
