package import AlcedoCore
import AlcedoTesting
package import FoundationEssentials
import Testing

/// Measurements of the peak memory of decoders and encoders against their budgets. Call them in a process of its own,
/// because other work uses memory too, and freed memory is reused.
package enum PeakMemory {
    /// The memory that may be used beyond the budget: a tenth, and 12 MiB for code, tables and the allocator.
    private static func tolerance(_ budget: Int) -> Int { budget / 10 + 12 << 20 }

    /// Expects that decoding, and playing an animation, holds no more than the decoder says, and not much less.
    package static func checkDecode(
        _ data: Data, by decoder: any ImageDecoding, _ options: DecodingOptions, _ name: String
    ) throws {
        let budget = try decoder.decodingByteCount(data, options: options)
        let growth = try ResidentMemory.growth {
            guard !options.isFiltered else {
                _ = try decoder.decodeRows(data, options: options, into: RowCounter())
                return
            }
            let image = try decoder.decode(data, options: options)
            for index in 0..<(image.frames?.frameCount ?? 0) { _ = try image.frames?.frame(at: index) }
        }.bytes
        check(growth, budget, name)
    }

    /// Expects that encoding holds no more than the encoder says, and not much less.
    package static func checkEncode(_ image: DecodedImage, by encoder: any ImageEncoding, _ name: String) throws {
        let budget = encoder.encodingByteCount(of: image)
        check(try ResidentMemory.growth { try encoder.encode(image) }.bytes, budget, name)
    }

    /// Expects that as many bytes as were held are in the budget, and not many more.
    package static func check(_ growth: Int, _ budget: Int, _ name: String) {
        let numbers = "\(name): \(growth >> 10) KiB held, \(budget >> 10) KiB in the budget"
        #expect(growth <= budget + tolerance(budget), "\(numbers)")
        // A budget of several times the memory would make images wait, or fail, that fit. libjxl holds far less for
        // these images than for others of their size.
        #expect(name.hasPrefix("jxl") || budget <= 4 * growth + 32 << 20, "\(numbers)")
    }
}
