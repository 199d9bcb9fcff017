public import AlcedoCore

private import CSampleKernels

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Draws the image on an opaque background, for formats and views without transparency.
    ///
    /// The result has the same pixel format, every alpha at its maximum, and the alpha mode `opaque`. Works on every
    /// pixel format; an image that is already opaque keeps its pixels. Stored samples are blended, as in browsers,
    /// instead of linear light. The color profile, scale, orientation and image format are kept. Every frame of an
    /// animation is processed when it is requested. Processing throws `tooLarge` when there is no memory for the
    /// result.
    ///
    /// - Parameter background: The color under transparent pixels. Its alpha is ignored. Default: white.
    /// - Complexity: O(*w* × *h*). Needs one new buffer for a whole image, and two rows of memory for arriving rows.
    public static func flatten(onto background: PixelColor = .white) -> Self {
        Self(ImageProcessors.Flatten(onto: background))
    }
}

extension ImageProcessors {
    /// The processor of `.flatten(onto:)`.
    package struct Flatten: PointProcessing {
        /// The color under transparent pixels. Its alpha is ignored.
        package let background: PixelColor

        package init(onto background: PixelColor = .white) { self.background = background }

        package var identifier: String { "flatten:\(background.opaqueDescription)" }

        /// Returns the operation, or `nil` for opaque images. Never throws.
        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            guard header.alphaMode != .opaque else { return nil }
            switch header.format {
            case .gray8, .gray16, .rgbx8: return PointOperation(relabeling: header, .opaque)
            case .rgba8: return blend8(header)
            case .rgba16: return blend16(header)
            }
        }

        private func blend8(_ header: PixelRowHeader) -> PointOperation {
            let color = [background.red, background.green, background.blue]
            let width = header.size.width
            let isPremultiplied: Int32 = header.alphaMode == .premultiplied ? 1 : 0
            return PointOperation(header.format, .opaque) { row, _, out in
                alcedo_flatten_bytes(
                    row.assumingMemoryBound(to: UInt8.self), width, color, isPremultiplied,
                    out.assumingMemoryBound(to: UInt8.self))
            }
        }

        private func blend16(_ header: PixelRowHeader) -> PointOperation {
            // 255 * 257 = 65535, so white stays white.
            let color = SIMD4(UInt32(background.red), UInt32(background.green), UInt32(background.blue), 255) &* 257
            let width = header.size.width
            let isPremultiplied = header.alphaMode == .premultiplied
            return PointOperation(header.format, .opaque) { row, _, out in
                // The compiler inlines literal closures into the loops. Closures in a parameter would be called for
                // each pixel.
                if isPremultiplied {
                    Self.change(row, width, out) { Self.premultiplied($0, over: color) }
                } else {
                    Self.change(row, width, out) { Self.straight($0, over: color) }
                }
            }
        }

        /// Writes `width` pixels of four 16-bit samples.
        @inline(__always)
        private static func change(
            _ row: UnsafeRawPointer, _ width: Int, _ out: UnsafeMutableRawPointer,
            _ body: (SIMD4<UInt32>) -> SIMD4<UInt32>
        ) {
            for x in 0..<width {
                let samples = row.loadUnaligned(fromByteOffset: x &* 8, as: SIMD4<UInt16>.self)
                let pixel = body(SIMD4<UInt32>(truncatingIfNeeded: samples))
                out.storeBytes(
                    of: SIMD4<UInt16>(truncatingIfNeeded: pixel), toByteOffset: x &* 8, as: SIMD4<UInt16>.self)
            }
        }

        // The compositing operator "over" on 16-bit samples, exact and rounded to nearest. Source: Porter and Duff,
        // "Compositing Digital Images", SIGGRAPH 1984.

        @inline(__always)
        private static func straight(_ pixel: SIMD4<UInt32>, over background: SIMD4<UInt32>) -> SIMD4<UInt32> {
            var result = divided(pixel &* pixel.w &+ background &* (65_535 &- pixel.w))
            result.w = 65_535
            return result
        }

        @inline(__always)
        private static func premultiplied(_ pixel: SIMD4<UInt32>, over background: SIMD4<UInt32>) -> SIMD4<UInt32> {
            // Invalid premultiplied pixels, whose color exceeds their alpha, must not overflow.
            let color = pixel.replacing(with: pixel.w, where: pixel .> pixel.w)
            var result = color &+ divided(background &* (65_535 &- pixel.w))
            result.w = 65_535
            return result
        }

        /// Returns `products / 65535`, rounded to nearest. The sums of products must fit in 32 bits.
        ///
        /// Source: Blinn, "Three Wrongs Make a Right", IEEE CG&A 15 (1995).
        @inline(__always)
        private static func divided(_ products: SIMD4<UInt32>) -> SIMD4<UInt32> {
            let shifted = products &+ 32_768
            return (shifted &+ shifted &>> 16) &>> 16
        }
    }
}
