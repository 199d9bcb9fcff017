import AlcedoCore

/// The positions of the samples in pixels of 16 or 32 bits.
struct BitFields: Equatable {
    /// One sample: `(pixel & mask) >> shift`, which has `bitCount` bits. A mask of zero means that it is absent.
    struct Sample: Equatable {
        let mask: UInt32
        let shift: UInt32
        let bitCount: Int

        /// Creates a sample from its mask. Returns nil when the bits of the mask are not contiguous.
        init?(_ mask: UInt32) {
            self.mask = mask
            shift = UInt32(mask == 0 ? 0 : mask.trailingZeroBitCount)
            bitCount = mask.nonzeroBitCount
            guard mask == 0 || UInt64(mask >> shift) + 1 == 1 << bitCount else { return nil }
        }
    }

    let red: Sample
    let green: Sample
    let blue: Sample
    var alpha: Sample?

    /// Creates fields from three or four masks: red, green, blue, alpha.
    ///
    /// Microsoft requires that the bits of a mask are contiguous and that masks do not overlap. Returns nil otherwise,
    /// when no color has a mask, and when a mask has bits outside the pixel.
    init?(_ masks: [UInt32], bitsPerPixel: Int) {
        let samples = masks.compactMap { Sample($0) }
        let union = masks.reduce(0, |)
        guard samples.count == masks.count, samples.count >= 3, masks[..<3].contains(where: { $0 != 0 }),
            masks.reduce(0, { $0 + $1.nonzeroBitCount }) == union.nonzeroBitCount,
            bitsPerPixel == 32 || union >> UInt32(bitsPerPixel) == 0
        else { return nil }
        (red, green, blue) = (samples[0], samples[1], samples[2])
        alpha = samples.count == 4 && masks[3] != 0 ? samples[3] : nil
    }

    /// Five bits for each color: pixels of 16 bits without masks.
    static let fiveBits = BitFields([0x7C00, 0x03E0, 0x001F], bitsPerPixel: 16)
    /// Eight bits for each color: pixels of 32 bits without masks.
    static let eightBits = BitFields([0xFF_0000, 0xFF00, 0xFF], bitsPerPixel: 32)
    /// Eight bits for each color and alpha in the highest bits.
    static let eightBitsWithAlpha = BitFields([0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000], bitsPerPixel: 32)

    /// The largest number of bits of a sample.
    var bitDepth: Int { max(red.bitCount, green.bitCount, blue.bitCount, alpha?.bitCount ?? 0) }
}

/// The conversion of pixels with bit fields to samples of 8 or 16 bits, rounded to nearest.
struct BitFieldScaling {
    private let masks: SIMD4<UInt32>
    private let shifts: SIMD4<UInt32>
    /// The maximum of the result over the maximum of the sample, times 2³².
    private let factors: SIMD4<UInt64>
    private let offsets: SIMD4<UInt64>

    /// Creates the conversion. `maximum` is 255 or 65,535.
    init(_ fields: BitFields, maximum: UInt64) {
        var (masks, shifts) = (SIMD4<UInt32>(), SIMD4<UInt32>())
        var (factors, offsets) = (SIMD4<UInt64>(), SIMD4<UInt64>())
        for (index, sample) in [fields.red, fields.green, fields.blue, fields.alpha].enumerated() {
            guard let sample, sample.mask != 0 else { continue }
            masks[index] = sample.mask
            shifts[index] = sample.shift
            let largest = UInt64(sample.mask >> sample.shift)
            factors[index] = (maximum << 32 + largest / 2) / largest
            offsets[index] = 1 << 31
        }
        if fields.alpha == nil { offsets.w = maximum << 32 }
        (self.masks, self.shifts, self.factors, self.offsets) = (masks, shifts, factors, offsets)
    }

    /// Returns red, green, blue and alpha. Absent color is 0, and absent alpha is the maximum.
    @inline(__always)
    func samples(of pixel: UInt32) -> SIMD4<UInt64> {
        let values = (SIMD4(repeating: pixel) & masks) &>> shifts
        return (SIMD4<UInt64>(truncatingIfNeeded: values) &* factors &+ offsets) &>> 32
    }
}
