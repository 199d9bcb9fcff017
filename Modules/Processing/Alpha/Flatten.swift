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
        guard pixels.mayBeTransparent else { return image.still(pixels.relabelled(.opaque)) }
        var result = pixels.relabelled(.opaque)
        let premultiplied = pixels.alphaMode == .premultiplied
        let (red, green, blue) = (background.red, background.green, background.blue)
        if pixels.format == .rgba16 {
            // 255 * 257 = 65535, so white stays white.
            let back = SIMD4<UInt16>(UInt16(red) * 257, UInt16(green) * 257, UInt16(blue) * 257, .max)
            Self.blend(&result, onto: back, premultiplied: premultiplied)
        } else {
            Self.blend(&result, onto: SIMD4<UInt8>(red, green, blue, .max), premultiplied: premultiplied)
        }
        return image.still(result)
    }

    private static func blend<Sample>(_ pixels: inout PixelBuffer, onto back: SIMD4<Sample>, premultiplied: Bool)
    where Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & SIMDScalar {
        typealias Alpha = AlphaArithmetic<Sample>
        if premultiplied {
            pixels.mapPixels(Sample.self) { pixel in
                SIMD4(
                    Alpha.overPremultiplied(pixel.x, pixel.w, back.x),
                    Alpha.overPremultiplied(pixel.y, pixel.w, back.y),
                    Alpha.overPremultiplied(pixel.z, pixel.w, back.z), .max)
            }
        } else {
            pixels.mapPixels(Sample.self) { pixel in
                SIMD4(
                    Alpha.over(pixel.x, pixel.w, back.x), Alpha.over(pixel.y, pixel.w, back.y),
                    Alpha.over(pixel.z, pixel.w, back.z), .max)
            }
        }
    }
}
