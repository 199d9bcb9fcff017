public import AlcedoCore
import AlcedoRuntime

extension ImageProcessors {
    /// An image that `.overlay(_:)` draws over another, such as a watermark, and how it is drawn.
    ///
    /// ```swift
    /// let logo = try await pipeline.image(for: ImageRequest(source: .file("/srv/logo.png")))
    /// let mark = ImageProcessors.Overlay(
    ///     logo.pixels, at: .bottomRight, x: -16, y: -16, scale: .share(0.2), opacity: 0.8)
    /// let request = ImageRequest(url: url, processors: [.resize(width: 1024), .overlay([mark])])
    /// ```
    ///
    /// A pipeline loads the pixels from a URL, a file or bytes in memory, and converts them to the color space in which
    /// it returns images. Stored samples are blended, so the overlay and the image need the same color space.
    public struct Overlay: Sendable {
        /// The size at which an overlay is drawn. It keeps its aspect ratio.
        public enum Scale: Sendable, Hashable {
            /// A factor of the overlay's own size, above 0.
            case factor(Double)
            /// The largest size that fits in this share of the width and of the height of the image, above 0 and at
            /// most 1.
            case share(Double)

            /// The name of the scale in cache keys; nil for the overlay's own size. It must not change between
            /// releases unless the result changes.
            fileprivate var identifier: String? {
                switch self {
                case .factor(1): nil
                case .factor(let factor): "\(Resize.name):\(factor)"
                case .share(let share): "\(Resize.name):share \(share)"
                }
            }
        }

        /// The pixels of the overlay.
        public let pixels: PixelBuffer
        /// The position of the overlay in the image. Processing throws `invalidParameter` for an invalid anchor.
        public var anchor: Anchor
        /// The number of pixels by which the overlay is moved to the right of the anchor; to the left if negative.
        public var x: Int
        /// The number of pixels by which the overlay is moved down from the anchor; up if negative.
        public var y: Int
        /// The size at which the overlay is drawn. Another size than its own is filtered as by `.resize`. Processing
        /// throws `invalidParameter` for an invalid scale, and `tooLarge` for more than 2²⁸ pixels, 2¹⁶ pixels on a
        /// side, or 256 MiB of filter.
        public var scale: Scale
        /// Whether the overlay is repeated in both directions, so that it covers the image.
        public var isTiled: Bool
        /// The formula that combines the overlay's colors with those of the image.
        public var mode: BlendMode
        /// The rule that tells which parts of the overlay and of the image the result shows.
        public var compositing: CompositingOperator
        /// A factor of the overlay's alpha, from 0 to 1. Processing throws `invalidParameter` for other values.
        public var opacity: Double

        /// The size, the format and a digest of the pixels.
        private let contents: String
        /// Whether every visible pixel of the overlay is gray.
        let isGray: Bool

        /// Creates an overlay.
        ///
        /// - Parameters:
        ///   - pixels: The pixels of the overlay. A digest of them, which is computed here, is part of the processor's
        ///     identifier.
        ///   - anchor: The position of the overlay in the image. Default: `.center`.
        ///   - x: The number of pixels by which the overlay is moved to the right of the anchor. Default: 0.
        ///   - y: The number of pixels by which the overlay is moved down from the anchor. Default: 0.
        ///   - scale: The size at which the overlay is drawn. Default: its own size.
        ///   - isTiled: Whether the overlay is repeated in both directions. Default: `false`.
        ///   - mode: The formula that combines the colors. Default: `.normal`, which covers those of the image.
        ///   - compositing: The rule that tells which parts the result shows. Default: `.sourceOver`.
        ///   - opacity: A factor of the overlay's alpha, from 0 to 1. Default: 1.
        /// - Complexity: O(pixels of the overlay).
        public init(
            _ pixels: PixelBuffer, at anchor: Anchor = .center, x: Int = 0, y: Int = 0, scale: Scale = .factor(1),
            isTiled: Bool = false, mode: BlendMode = .normal, compositing: CompositingOperator = .sourceOver,
            opacity: Double = 1
        ) {
            self.pixels = pixels
            self.anchor = anchor
            (self.x, self.y) = (x, y)
            self.scale = scale
            self.isTiled = isTiled
            self.mode = mode
            self.compositing = compositing
            self.opacity = opacity
            let size = "\(pixels.width)x\(pixels.height)"
            contents = "\(size),\(pixels.format.rawValue),\(pixels.alphaMode.rawValue),\(Self.digest(pixels))"
            isGray = Self.isGray(pixels)
        }

        /// The name of the overlay with all its parameters. It must not change between releases unless the result
        /// changes.
        var identifier: String {
            let options = [
                scale.identifier, isTiled ? "tiled" : nil, compositing == .sourceOver ? nil : compositing.rawValue,
            ]
            let required = [contents, anchor.identifier, "\(x);\(y)", mode.rawValue, "\(opacity)"]
            return (required + options.compactMap { $0 }).joined(separator: ",")
        }

        private static func digest(_ overlay: PixelBuffer) -> String {
            var hash = SHA256()
            for y in 0..<overlay.height { hash.update(overlay.row(y)) }
            return hash.finalizedHexadecimal()
        }

        private static func isGray(_ overlay: PixelBuffer) -> Bool {
            switch overlay.format {
            case .gray8, .gray16: true
            case .rgbx8: hasGrayRows(overlay, of: UInt8.self, hasAlpha: false)
            case .rgba8: hasGrayRows(overlay, of: UInt8.self, hasAlpha: overlay.alphaMode != .opaque)
            case .rgba16: hasGrayRows(overlay, of: UInt16.self, hasAlpha: overlay.alphaMode != .opaque)
            }
        }

        /// Returns whether every pixel is gray or, if `hasAlpha` is true, transparent. Pixels have four samples.
        private static func hasGrayRows<Sample: FixedWidthInteger & SIMDScalar & BitwiseCopyable>(
            _ overlay: PixelBuffer, of type: Sample.Type, hasAlpha: Bool
        ) -> Bool {
            let size = MemoryLayout<SIMD4<Sample>>.size
            return (0..<overlay.height).allSatisfy { y in
                overlay.row(y).withUnsafeBytes { row in
                    for offset in stride(from: 0, to: row.count, by: size) {
                        let pixel = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<Sample>.self)
                        let isInvisible = hasAlpha && pixel.w == 0
                        guard isInvisible || (pixel.x == pixel.y && pixel.y == pixel.z) else { return false }
                    }
                    return true
                }
            }
        }
    }
}
