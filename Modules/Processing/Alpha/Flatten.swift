public import AlcedoCore

#if arch(x86_64)
    private import CSampleKernels
#endif

/// Puts an image on an opaque background, for formats and views without transparency.
///
/// The result has the same format, every alpha at its maximum, and alpha mode `opaque`. Works on every pixel format;
/// one that is opaque already keeps its pixels. Samples are blended as they are stored, as browsers do, not in linear
/// light. Colour profile, scale, orientation and format are kept; of an animation the first frame remains.
///
/// - Complexity: O(*w* × *h*), one new buffer, or two rows.
public struct Flatten: PointProcessing, Hashable {
    /// What shows through transparent pixels.
    public let background: OpaqueColor

    /// By default onto white.
    public init(onto background: OpaqueColor = .white) { self.background = background }

    public var identifier: String { "flatten:\(background)" }

    /// Never throws.
    public func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork? {
        guard header.alphaMode != .opaque else { return nil }
        switch header.format {
        case .gray8, .rgbx8: return PointWork(relabelling: header, .opaque)
        case .rgba8:
            #if arch(x86_64)
                return blend8(header)
            #else
                return blend(header, UInt8.self)
            #endif
        case .rgba16: return blend(header, UInt16.self)
        }
    }

    #if arch(x86_64)
        private func blend8(_ header: PixelRowHeader) -> PointWork {
            let color = [background.red, background.green, background.blue]
            let width = header.size.width
            let isPremultiplied: Int32 = header.alphaMode == .premultiplied ? 1 : 0
            return PointWork(header.format, .opaque) { row, _, out in
                alcedo_flatten_bytes(
                    row.assumingMemoryBound(to: UInt8.self), width, color, isPremultiplied,
                    out.assumingMemoryBound(to: UInt8.self))
            }
        }
    #endif

    /// The work on any machine.
    func blend<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ header: PixelRowHeader, _ type: Sample.Type
    ) -> PointWork {
        let back = SIMD4(UInt32(background.red), UInt32(background.green), UInt32(background.blue), 255)
        // 255 * 257 = 65535, so white stays white.
        let colour = Sample.bitWidth == 16 ? back &* 257 : back
        let bits = UInt32(Sample.bitWidth)
        let width = header.size.width
        let isPremultiplied = header.alphaMode == .premultiplied
        return PointWork(header.format, .opaque) { row, _, out in
            // The literal closures become part of the loops; passed through a parameter they would be calls.
            if isPremultiplied {
                Self.change(row, width, out, type) { Over.premultiplied($0, colour, bits) }
            } else {
                Self.change(row, width, out, type) { Over.straight($0, colour, bits) }
            }
        }
    }

    /// Makes `width` pixels of four samples.
    @inline(__always)
    private static func change<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
        _ row: UnsafeRawPointer, _ width: Int, _ out: UnsafeMutableRawPointer, _ type: Sample.Type,
        _ body: (SIMD4<UInt32>) -> SIMD4<UInt32>
    ) {
        let size = MemoryLayout<SIMD4<Sample>>.size
        for x in 0..<width {
            let samples = row.loadUnaligned(fromByteOffset: x &* size, as: SIMD4<Sample>.self)
            let pixel = body(SIMD4<UInt32>(truncatingIfNeeded: samples))
            out.storeBytes(
                of: SIMD4<Sample>(truncatingIfNeeded: pixel), toByteOffset: x &* size, as: SIMD4<Sample>.self)
        }
    }
}
