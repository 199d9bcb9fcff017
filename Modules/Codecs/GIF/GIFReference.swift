private import CGIFShim
package import FoundationEssentials

/// The plain C loop over giflib that benchmarks compare ``GIFDecoder`` with.
package enum GIFReference {
    /// Decodes every image and throws the pixels away. Returns their number, 0 on any error.
    package static func decode(_ data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return alcedo_gif_reference_decode(base.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }
}
