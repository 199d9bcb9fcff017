public import AlcedoCore

/// Puts an image on an opaque background, for formats and views without transparency.
///
/// The result has the same format, every alpha at its maximum, and alpha mode `opaque`. Works on every pixel format;
/// one that is opaque already keeps its pixels. Samples are blended as they are stored, as browsers do, not in linear
/// light. Colour profile, scale, orientation and format are kept; of an animation the first frame remains.
///
/// - Complexity: O(*w* × *h*), one new buffer.
public struct Flatten: ImageProcessing, Hashable {
    public let background: OpaqueColor

    public init(onto background: OpaqueColor = .white) { self.background = background }

    public var identifier: String { "flatten:\(background)" }

    /// Never throws.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        let pixels = image.pixels
        var result = pixels.relabelled(.opaque)
        let isPremultiplied = pixels.alphaMode == .premultiplied
        if pixels.alphaMode != .opaque {
            switch pixels.format {
            case .gray8, .rgbx8: break
            case .rgba8: blend(&result, UInt8.self, isPremultiplied)
            case .rgba16: blend(&result, UInt16.self, isPremultiplied)
            }
        }
        return image.still(result)
    }

    private func blend<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ pixels: inout PixelBuffer, _ type: Sample.Type, _ isPremultiplied: Bool
    ) {
        let back = SIMD4(UInt32(background.red), UInt32(background.green), UInt32(background.blue), 255)
        // 255 * 257 = 65535, so white stays white.
        let colour = Sample.bitWidth == 16 ? back &* 257 : back
        let bits = UInt32(Sample.bitWidth)
        let (width, height, stride) = (pixels.width, pixels.height, pixels.bytesPerRow)
        pixels.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            for y in 0..<height {
                let row = base + y * stride
                // The literal closures become part of the loops; passed through a parameter they would be calls.
                if isPremultiplied {
                    Self.change(row, width, type) { Over.premultiplied($0, colour, bits) }
                } else {
                    Self.change(row, width, type) { Over.straight($0, colour, bits) }
                }
            }
        }
    }

    /// Replaces `width` pixels of four samples.
    @inline(__always)
    private static func change<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ row: UnsafeMutableRawPointer, _ width: Int, _ type: Sample.Type, _ body: (SIMD4<UInt32>) -> SIMD4<UInt32>
    ) {
        let size = MemoryLayout<SIMD4<Sample>>.size
        for x in 0..<width {
            let pixel = SIMD4<UInt32>(truncatingIfNeeded: row.load(fromByteOffset: x &* size, as: SIMD4<Sample>.self))
            let samples = SIMD4<Sample>(truncatingIfNeeded: body(pixel))
            row.storeBytes(of: samples, toByteOffset: x &* size, as: SIMD4<Sample>.self)
        }
    }
}
