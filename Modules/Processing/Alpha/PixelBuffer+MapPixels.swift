import AlcedoCore

extension PixelBuffer {
    /// Whether the format has an alpha sample that may differ from its maximum.
    var mayBeTransparent: Bool {
        switch format {
        case .rgba8, .rgba16: alphaMode != .opaque
        case .rgbx8, .gray8: false
        }
    }

    /// Replaces every pixel of a format with four samples of type `Sample`.
    mutating func mapPixels<Sample: SIMDScalar & BitwiseCopyable>(
        _ type: Sample.Type, _ change: (SIMD4<Sample>) -> SIMD4<Sample>
    ) {
        let (width, height, stride) = (width, height, bytesPerRow)
        withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            for y in 0..<height {
                var pixel = base + y * stride
                for _ in 0..<width {
                    let changed = change(pixel.load(as: SIMD4<Sample>.self))
                    pixel.storeBytes(of: changed, as: SIMD4<Sample>.self)
                    pixel += MemoryLayout<SIMD4<Sample>>.size
                }
            }
        }
    }
}
